"""The failures, to look at: worst classes, flickering sequences, disagreements, sure of nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Cell, Column, Gallery, Number, Picture, Section, Table
from ops.report.names import ClassNames, dataset_name
from ops.report.pictures import Found, Wanted, read_pictures
from ops.report.style import plain_name
from ops.storage import Root

if TYPE_CHECKING:
    import duckdb

# How much is shown: what a person looks through, and what a page can hold.
MODELS = 2
CLASSES = 6
PER_CLASS = 4
SEQUENCES = 4
FRAMES = 10
UNKNOWN = 9
DISAGREEMENTS = 9

_NATURAL = (
    "imagenet_1k/val",
    "imagenetv2/matched_frequency",
    "imagenet_sketch/clean",
    "imagenet_a/clean",
    "imagenet_r/clean",
)


@dataclass
class _Card:
    """A picture that is still to be read, and what is said below it."""

    wanted: Wanted
    lines: list[tuple[str, str]]


@dataclass
class _Plan:
    """A gallery whose pictures are still to be read."""

    title: str
    caption: str
    strip: bool = False
    rows: list[tuple[str, list[_Card]]] = field(default_factory=list)


@dataclass(frozen=True)
class _Lake:
    connection: duckdb.DuckDBPyConnection
    catalog: Catalog
    names: ClassNames

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, values or None).fetchall()


def failures(
    root: Root, connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast
) -> Section:
    """Galleries of the two best models, with pictures read from the sealed shards by key."""
    section = Section(
        "failures",
        "Failures, to look at",
        "Each picture with its key, its label, what it was taken for, and how sure the model was.",
        missing="no model has predictions that could be shown",
        short="Failures",
    )
    lake = _Lake(connection, catalog, ClassNames(connection))
    shown = _with_rows(lake, models)[:MODELS]
    makers: list[Callable[[], _Plan | None]] = []
    for model in shown:
        makers.append(lambda model=model: _worst_classes(lake, model))  # type: ignore[misc]
    for model in shown:
        makers.append(lambda model=model: _unknown(lake, model))  # type: ignore[misc]
    for model in shown:
        makers.append(lambda model=model: _flickering(lake, model))  # type: ignore[misc]
    if len(shown) == 2:
        makers.append(lambda: _disagreements(lake, shown[0], shown[1]))
    plans = [plan for make in makers if (plan := make()) is not None and plan.rows]
    wanted = [card.wanted for plan in plans for _, cards in plan.rows for card in cards]
    pictures = read_pictures(root, catalog, wanted)
    section.blocks += [_gallery(plan, pictures) for plan in plans]
    if len(shown) == 2 and (table := _counts(lake, shown[0], shown[1])) is not None:
        section.blocks.append(table)
    return section


def _gallery(plan: _Plan, pictures: dict[Wanted, Found]) -> Gallery:
    rows = [
        (
            heading,
            [
                Picture(pictures[card.wanted].uri, card.lines, pictures[card.wanted].missing)
                for card in cards
            ],
        )
        for heading, cards in plan.rows
    ]
    return Gallery(plan.title, rows, plan.caption, plan.strip)


def _with_rows(lake: _Lake, models: Cast) -> list[str]:
    """The models that have runs, best first."""
    have = {model for (model,) in lake.rows("SELECT DISTINCT model FROM runs WHERE current")}
    return [model for model in models.models if model in have]


def _datasets(lake: _Lake, *models: str) -> list[str]:
    """Natural sets of single images that all of these models were run on."""
    have = [
        {dataset for (dataset,) in lake.rows(
            "SELECT dataset FROM runs WHERE current AND model = $model", model=model)}
        for model in models
    ]  # fmt: skip
    return [name for name in _NATURAL if all(name in own for own in have)]


def _worst_classes(lake: _Lake, model: str) -> _Plan | None:
    datasets = _datasets(lake, model)
    if not datasets:
        return None
    benchmark, _, condition = datasets[0].partition("/")
    about = {"model": model, "benchmark": benchmark, "condition": condition}
    classes = lake.rows(
        """
        SELECT labels[1] AS label, count(*) AS n, count(*) FILTER (WHERE correct) AS k
        FROM predictions
        WHERE model = $model AND benchmark = $benchmark AND condition = $condition
            AND len(labels) = 1
        GROUP BY label HAVING k < n ORDER BY k / n, n DESC, label LIMIT $most
        """,
        **about,
        most=CLASSES,
    )
    if not classes:
        return None
    wrong = lake.rows(
        """
        SELECT labels[1], sample_key, dataset_version, shard, pred, p_max FROM predictions
        WHERE model = $model AND benchmark = $benchmark AND condition = $condition
            AND len(labels) = 1 AND NOT correct AND pred IS NOT NULL
            AND list_contains($labels, labels[1])
        QUALIFY row_number() OVER (PARTITION BY labels[1] ORDER BY p_max DESC, sample_key) <= $most
        ORDER BY p_max DESC, sample_key
        """,
        **about,
        labels=[label for label, _, _ in classes],
        most=PER_CLASS,
    )
    name = dataset_name(lake.catalog, benchmark, condition)
    plan = _Plan(
        f"Worst classes of {model}",
        f"{name}: the classes with the lowest accuracy, and of each the images it was surest "
        "about and wrong.",
    )
    for label, n, k in classes:
        cards = [
            _Card(
                Wanted(datasets[0], version, shard, key),
                [("wrong", lake.names(pred)), ("sure", _percent(p)), ("key", key)],
            )
            for own, key, version, shard, pred, p in wrong
            if own == label
        ]
        plan.rows.append((f"{lake.names(label)}: {k} of {n} right", cards))
    return plan


def _unknown(lake: _Lake, model: str) -> _Plan:
    plan = _Plan(
        f"Unknown objects {model} is surest about",
        "ImageNet-O: of none of the 1,000 classes. Probabilities over its 200 classes.",
    )
    cards = [
        _Card(
            Wanted("imagenet_o/clean", version, shard, key),
            [("wrong", lake.names(pred)), ("sure", _percent(p)), ("key", key)],
        )
        for key, version, shard, pred, p in lake.rows(
            """
            SELECT sample_key, dataset_version, shard, pred_masked, p_max_masked FROM predictions
            WHERE model = $model AND benchmark = 'imagenet_o' AND condition = 'clean'
                AND p_max_masked IS NOT NULL
            ORDER BY p_max_masked DESC, sample_key LIMIT $most
            """,
            model=model,
            most=UNKNOWN,
        )
    ]
    if cards:
        plan.rows.append(("", cards))
    return plan


def _flickering(lake: _Lake, model: str) -> _Plan | None:
    worst = lake.rows(
        """
        SELECT benchmark, condition, frame_set, flips, pairs, frame_reference FROM flips
        WHERE model = $model AND flips > 0 AND unreadable = 0
        -- The published set before what is rendered here, and no perturbation twice.
        QUALIFY benchmark = min(benchmark) OVER () AND row_number() OVER (
            PARTITION BY benchmark, condition ORDER BY flips / pairs DESC, frame_set) = 1
        ORDER BY flips / pairs DESC, condition LIMIT $most
        """,
        model=model,
        most=SEQUENCES,
    )
    if not worst:
        return None
    plan = _Plan(
        f"Sequences in which {model} changes its mind most",
        f"{dataset_name(lake.catalog, worst[0][0], 'clean')}: of each perturbation the sequence "
        f"with the most changes, and of it {FRAMES} frames; a line above a frame marks a change.",
        strip=True,
    )
    for benchmark, condition, sequence, flips, pairs, reference in worst:
        frames = lake.rows(
            """
            SELECT sample_key, frame_offset, dataset_version, shard, pred, p_max, labels[1]
            FROM predictions
            WHERE model = $model AND benchmark = $benchmark AND condition = $condition
                AND frame_set = $sequence
            ORDER BY frame_offset
            """,
            model=model,
            benchmark=benchmark,
            condition=condition,
            sequence=sequence,
        )
        preds = [row[4] for row in frames]
        before = [preds[0], *preds[:-1]] if reference == "previous" else [preds[0]] * len(preds)
        changed = [now != then for now, then in zip(preds, before, strict=True)]
        cards = []
        for at in _window(changed, reference):
            _, offset, version, shard, pred, p, _ = frames[at]
            kind = "wrong" if changed[at] else "same"
            cards.append(
                _Card(
                    Wanted(f"{benchmark}/{condition}", version, shard, sequence, offset),
                    [(kind, lake.names(pred)), ("sure", _percent(p)), ("key", f"frame {offset}")],
                )
            )
        label = lake.names(frames[0][6])
        heading = f"{plain_name(condition)}, {label}: {flips} changes in {pairs} pairs ({sequence})"
        plan.rows.append((heading, cards))
    return plan


def _window(changed: list[bool], reference: str) -> list[int]:
    """Frames to show: those in a row with the most changes; with the first, if compared with it."""
    size = min(FRAMES, len(changed))
    first = [0] if reference == "first" else []
    size -= len(first)
    starts = range(len(first), len(changed) - size + 1)
    start = max(starts, key=lambda at: (sum(changed[at : at + size]), -at))
    return [*first, *range(start, start + size)]


def _disagreements(lake: _Lake, first: str, second: str) -> _Plan | None:
    datasets = _datasets(lake, first, second)
    if not datasets:
        return None
    plan = _Plan(
        f"Where {first} and {second} disagree",
        "Images that one of them has right and the other wrong; those that both are sure about "
        "first, from each set in turn.",
    )
    for right, wrong in ((first, second), (second, first)):
        cards = []
        for dataset, key, version, shard, label, p_right, pred, p_wrong in lake.rows(
            f"""
            SELECT x.dataset, sample_key, dataset_version, x.shard, labels[1],
                x.p_max, y.pred, y.p_max
            FROM predictions AS x JOIN predictions AS y
                USING (benchmark, condition, dataset_version, sample_key, labels)
            WHERE x.model = $one AND y.model = $other AND x.correct AND NOT y.correct
                AND y.pred IS NOT NULL AND {_in("x", datasets)} AND {_in("y", datasets)}
            QUALIFY row_number() OVER (PARTITION BY x.dataset
                ORDER BY least(x.p_max, y.p_max) DESC, sample_key) <= $most
            ORDER BY row_number() OVER (PARTITION BY x.dataset
                ORDER BY least(x.p_max, y.p_max) DESC, sample_key), x.dataset
            LIMIT $most
            """,
            one=right,
            other=wrong,
            most=DISAGREEMENTS,
        ):
            cards.append(
                _Card(
                    Wanted(dataset, version, shard, key),
                    [
                        ("right", f"{lake.names(label)} {_percent(p_right)}"),
                        ("wrong", f"{lake.names(pred)} {_percent(p_wrong)}"),
                        ("key", f"{dataset_name(lake.catalog, *dataset.split('/', 1))} {key}"),
                    ],
                )
            )
        if cards:
            plan.rows.append((f"{right} is right, {wrong} is not", cards))
    return plan


def _counts(lake: _Lake, first: str, second: str) -> Table | None:
    datasets = _datasets(lake, first, second)
    if not datasets:
        return None
    rows = lake.rows(
        f"""
        SELECT x.benchmark, x.condition, count(*),
            count(*) FILTER (WHERE x.correct AND y.correct),
            count(*) FILTER (WHERE x.correct AND NOT y.correct),
            count(*) FILTER (WHERE y.correct AND NOT x.correct),
            count(*) FILTER (WHERE NOT x.correct AND NOT y.correct)
        FROM predictions AS x JOIN predictions AS y
            USING (benchmark, condition, dataset_version, sample_key)
        WHERE x.model = $one AND y.model = $other AND x.correct IS NOT NULL
            AND y.correct IS NOT NULL AND {_in("x", datasets)} AND {_in("y", datasets)}
        GROUP BY ALL ORDER BY ALL
        """,
        one=first,
        other=second,
    )
    columns = [
        Column("set", numeric=False), Column("images"), Column("both right"),
        Column("only the first", first), Column("only the second", second), Column("both wrong"),
    ]  # fmt: skip
    body: list[list[Cell]] = [
        [dataset_name(lake.catalog, benchmark, condition),
         *(Number(count, digits=0) for count in counts)]
        for benchmark, condition, *counts in rows
    ]  # fmt: skip
    caption = "How often they disagree: the two middle counts are what McNemar's test compares"
    return Table("disagreements-table", columns, body, caption, of_models=False) if body else None


def _in(alias: str, datasets: list[str]) -> str:
    """SQL condition that opens only the files of some datasets, all named in this module."""
    pairs = ", ".join("('{}', '{}')".format(*name.split("/", 1)) for name in datasets)
    benchmarks = ", ".join(sorted({f"'{name.split('/', 1)[0]}'" for name in datasets}))
    return (
        f"{alias}.benchmark IN ({benchmarks}) AND ({alias}.benchmark, {alias}.condition) "
        f"IN ({pairs})"
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
