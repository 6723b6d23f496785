"""The leaderboard: the headline metric of every model on every benchmark, with interval and n."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.catalog import Catalog
from ops.report.document import Cell, Column, Number, Section, Table
from ops.report.marks import SEEN, SYNTHETIC, explained
from ops.report.names import dataset_name, metric_name

if TYPE_CHECKING:
    import duckdb

_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "natural",
        "Validation set and natural shifts",
        ("imagenet_1k", "imagenetv2", "imagenet_real", "imagenet_sketch", "imagenet_a",
         "imagenet_r", "imagenet_o"),
    ),
    (
        "corrupted",
        "Corruptions and perturbations",
        ("imagenet_c", "imagenet_c_rendered", "imagenet_c_on_the_fly", "mini_imagenet_c",
         "mini_imagenet_c_rendered", "imagenet_p", "imagenet_p_rendered", "imagenet_p_on_the_fly"),
    ),
    ("video", "Video", ("imagenet_vid_robust", "ytbb_robust", "frame_sets", "reviewed_frame_sets")),
)  # fmt: skip
_OTHER = ("other", "Other sets and their distortions")


def leaderboard(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> Section:
    """One table for each group of benchmarks, one column for each headline metric."""
    section = Section(
        "leaderboard",
        "Leaderboard",
        "In percent, each with its 95 % interval below; n is the number of images, source images, "
        "sequences or anchors that the interval is over. Two models whose intervals overlap may "
        "still differ: paired comparisons are sharper than two intervals.",
        missing="no metric is computed yet: shiftlake metrics",
    )
    groups: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for row in connection.execute(
        """
        SELECT benchmark, condition, metric, variant, better, model, value_pct, ci_lo_pct,
            ci_hi_pct, ci_method, n, stale, seen_in_training,
            -- Where all are, the page says so once.
            synthetic AND NOT (SELECT bool_and(synthetic) FROM leaderboard)
        FROM leaderboard WHERE value_pct IS NOT NULL ORDER BY ALL
        """
    ).fetchall():
        name = next((name for name, _, own in _GROUPS if row[0] in own), _OTHER[0])
        groups[name].append(row)
    for name, title, own in (*_GROUPS, (*_OTHER, ())):
        if groups[name]:
            table = _table(name, title, own, groups[name], catalog)
            section.blocks += [table, *explained(table)]
    return section


def _table(
    name: str, title: str, order: tuple[str, ...], rows: list[tuple[object, ...]], catalog: Catalog
) -> Table:
    found: dict[tuple[str, str, str, str], dict[str, tuple[Number, int]]] = defaultdict(dict)
    better = {}
    for benchmark, condition, metric, variant, which, model, *number in rows:
        value, lo, hi, method, n, stale, seen, synthetic = number
        notes = [f"n = {n:,}" if n else "", str(method or ""), "stale" if stale else ""]
        cell = Number(
            float(value),  # type: ignore[arg-type]
            lo,  # type: ignore[arg-type]
            hi,  # type: ignore[arg-type]
            "; ".join(note for note in notes if note and note != "none"),
            mark=SYNTHETIC * bool(synthetic) + SEEN * bool(seen),
        )
        key = (str(benchmark), str(condition), str(metric), str(variant))
        found[key][str(model)] = (cell, int(n or 0))  # type: ignore[call-overload]
        better[key] = str(which)
    keys = sorted(found, key=lambda key: (order.index(key[0]) if key[0] in order else 99, key))
    columns = [Column("model", numeric=False)]
    for key in keys:
        sizes = sorted({n for _, n in found[key].values()})
        under = f"{metric_name(key[2], key[3])}\nn\u00a0=\u00a0{sizes[0]:,}"
        under += f"\u00a0to {sizes[-1]:,}" if len(sizes) > 1 else ""
        columns.append(Column(dataset_name(catalog, key[0], key[1]), under, better[key]))
    models = {model for own in found.values() for model in own}
    first = keys[0]
    sign = 1 if better[first] == "lower" else -1

    def place(model: str) -> tuple[float, str]:
        cell = found[first].get(model)
        return (sign * cell[0].value if cell else float("inf"), model)

    body: list[list[Cell]] = [
        [model, *(found[key][model][0] if model in found[key] else None for key in keys)]
        for model in sorted(models, key=place)
    ]
    return Table(f"leaderboard-{name}", columns, body, title)
