"""The ladder: which tests to look at, in which order, and what each of them says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.report.cast import Cast
from ops.report.document import Cell, Column, Number, Plot, Section, Table, Text
from ops.report.figures.ladder import CHANCE, PARTS, figure_ladder
from ops.report.figures.ladder import ladder as rungs_of
from ops.report.svg import as_svg

if TYPE_CHECKING:
    import duckdb

_SAID = (
    ("ImageNetV2 stands in for the test set.",
     "Its photographs were collected as the validation set's were, years later, and no model was "
     "tuned on them. The drop from val is what tuning and chance gave; the order of models is what "
     "remains. Of the three sets, matched frequency is the one to report."),
    ("ReaL at the end.",
     "Labels are those of several annotators, and an image may have more than one. Near the top, "
     "where val mostly rewards agreeing with its label noise, ReaL still tells models apart."),
    ("A and R for robustness.",
     "ImageNet-A holds photographs that a ResNet-50 gets wrong, ImageNet-R paintings, toys and "
     "other renditions. Both have 200 classes of their own: predictions are masked to them, and "
     "the clean accuracy beside each is over the same classes under the same mask. The gap is the "
     "cost of the shift, not of the classes."),
    ("O for confidence.",
     "Its objects belong to none of the classes. AUPR says how well low confidence finds them; a "
     "model that is as sure of them as of clean images is at the level of chance."),
)  # fmt: skip


def ladder(connection: duckdb.DuckDBPyConnection, models: Cast) -> Section:
    """The figure, a sentence on every rung, and the table."""
    section = Section(
        "ladder",
        "The ladder",
        "From the validation set, which every choice was tuned on, to what nothing was tuned on.",
        missing="none of val, ImageNetV2, ReaL, ImageNet-A, -R and -O is evaluated",
        short="Ladder",
    )
    figure = figure_ladder(connection, models)
    if figure is None:
        return section
    section.blocks.append(
        Plot(as_svg(figure), "Accuracy, and for ImageNet-O the AUPR, with 95 % intervals.")
    )
    section.blocks += [Text(text, strong) for strong, text in _SAID]
    section.blocks.append(_table(connection, models))
    return section


def _table(connection: duckdb.DuckDBPyConnection, models: Cast) -> Table:
    found = rungs_of(connection)
    columns = [Column("model", numeric=False)]
    for _, rungs in PARTS:
        for label, key in rungs:
            flat = label.replace("thres-\nhold", "threshold").replace("\n", " ")
            if key[3].startswith("clean_200"):
                flat = f"clean, classes of {'A' if key[3].endswith('_a') else 'R'}"
            columns.append(Column(flat, "", "higher"))
            if key[0] in ("imagenet_a", "imagenet_r"):
                columns.append(Column("gap", "points", "lower"))
    columns.append(Column("chance", "of AUPR"))
    body: list[list[Cell]] = []
    ranked = [model for model in models.models if model in found]
    for model in [*ranked, *sorted(set(found) - set(ranked))]:
        row: list[Cell] = [model]
        for _, rungs in PARTS:
            for _, key in rungs:
                point = found[model].get(key)
                row.append(_number(point))
                if key[0] in ("imagenet_a", "imagenet_r"):
                    clean = found[model].get(("imagenet_1k", "val", "top1", f"clean_200/{key[0]}"))
                    both = point is not None and clean is not None
                    row.append(Number(100 * (clean[0] - point[0])) if both else None)  # type: ignore[index]
        row.append(_number(found[model].get(CHANCE)))
        body.append(row)
    return Table("ladder-table", columns, body, "Every rung, in percent")


def _number(point: tuple[float, float | None, float | None, int | None] | None) -> Cell:
    if point is None:
        return None
    value, lo, hi, n = point
    lo, hi = (None if bound is None else 100 * bound for bound in (lo, hi))
    return Number(100 * value, lo, hi, f"n = {n:,}" if n else "")
