"""The ladder of tests a model climbs: from the validation set to unknown objects."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Key = tuple[str, str, str, str]
_Point = tuple[float, float | None, float | None, int | None]

_O = ("imagenet_o", "clean", "aupr", "max softmax")
CHANCE = ("imagenet_o", "clean", "aupr", "chance")
# Title of each part, and its rungs: label and where the number stands in the table of metrics.
PARTS: tuple[tuple[str, tuple[tuple[str, _Key], ...]], ...] = (
    (
        "New photographs, better labels",
        (
            ("val", ("imagenet_1k", "val", "top1", "unmasked")),
            ("V2 top\nimages", ("imagenetv2", "top_images", "top1", "unmasked")),
            ("V2 thres-\nhold 0.7", ("imagenetv2", "threshold07", "top1", "unmasked")),
            ("V2 matched\nfrequency", ("imagenetv2", "matched_frequency", "top1", "unmasked")),
            ("ReaL", ("imagenet_real", "clean", "top1", "real")),
        ),
    ),
    (
        "Natural adversaries",
        (
            ("clean, 200\nclasses", ("imagenet_1k", "val", "top1", "clean_200/imagenet_a")),
            ("ImageNet-A", ("imagenet_a", "clean", "top1", "masked")),
        ),
    ),
    (
        "Renditions",
        (
            ("clean, 200\nclasses", ("imagenet_1k", "val", "top1", "clean_200/imagenet_r")),
            ("ImageNet-R", ("imagenet_r", "clean", "top1", "masked")),
        ),
    ),
    ("Unknown objects", (("ImageNet-O\nAUPR", _O),)),
)


def ladder(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[_Key, _Point]]:
    """Value, interval and n of every rung, by model."""
    keys = [key for _, rungs in PARTS for _, key in rungs]
    listed = ", ".join(f"({', '.join(repr(part) for part in key)})" for key in [*keys, CHANCE])
    found: dict[str, dict[_Key, _Point]] = defaultdict(dict)
    for model, *row in connection.execute(
        f"""
        SELECT model, benchmark, condition, metric,
            CASE variant WHEN 'step-wise' THEN 'max softmax' ELSE variant END AS variant,
            value, ci_lo, ci_hi, n
        FROM metrics
        WHERE (benchmark, condition, metric, variant) IN
            ({listed}, ('imagenet_o', 'clean', 'aupr', 'step-wise')) AND value IS NOT NULL
        ORDER BY ALL
        """
    ).fetchall():
        found[model][row[0], row[1], row[2], row[3]] = (row[4], row[5], row[6], row[7])
    return found


def figure_ladder(
    connection: duckdb.DuckDBPyConnection, models: Cast | None = None
) -> Figure | None:
    """Every rung of the ladder side by side, a line a model.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        Who is in colour; the rest is a grey band, the middle 80 %.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where nothing is measured.
    """
    models = models or cast_of(connection)
    found = ladder(connection)
    if not any(set(own) - {CHANCE} for own in found.values()):
        return None
    with style.paper():
        return _figure(found, models)


def _figure(found: dict[str, dict[_Key, _Point]], models: Cast) -> Figure:
    legend = Legend(models, sorted(found))
    height = legend.height + 400
    figure = style.new_figure("ladder", height)
    axes = figure.add_axes((0.05, 62 / height, 0.945, 316 / height))
    ticks: dict[float, str] = {}
    x = 0.0
    for number, (title, rungs) in enumerate(PARTS):
        places = {x + i: key for i, (_, key) in enumerate(rungs)}
        ticks |= dict(zip(places, (label for label, _ in rungs), strict=True))
        axes.text(x - 0.3, 1.035, title, fontweight="bold", fontsize=11.5)
        if models.crowded:
            for place, key in places.items():
                _crowd(axes, place, [own[key][0] for own in found.values() if key in own])
        for i, model in enumerate(reversed(models.chosen)):
            # Side by side where there are several: their intervals would hide each other.
            middle = len(models.chosen) / 2 - 0.5
            aside = (middle - i) * min(0.06, 0.3 / len(models.chosen))
            own = found.get(model, {})
            points = {at + aside: own[key] for at, key in places.items() if key in own}
            if points:
                _model(axes, points, model, models)
        x += len(rungs) + 0.5
        if number < len(PARTS) - 1:
            axes.axvline(x - 0.75, color=style.GRID, linewidth=1)
    _chance(axes, x - 1.5, [own[CHANCE][0] for own in found.values() if CHANCE in own])
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(-0.45, x - 0.6)
    axes.set_ylim(0, 1)
    style.percent_axis(axes.yaxis, 20)
    axes.set_ylabel("%")
    axes.grid(visible=False, axis="x")
    legend.draw(figure)
    return figure


def _model(axes: Axes, points: dict[float, _Point], model: str, models: Cast) -> None:
    colour = models.colour(model)
    for place, (_, lo, hi, _) in points.items():
        if lo is not None and hi is not None:
            bar = axes.vlines(place, lo, hi, color=colour, linewidth=1.4)
            mark(bar, model, "")
    values = [point[0] for point in points.values()]
    (line,) = axes.plot(
        list(points), values, color=colour, marker=models.marker(model), linewidth=1.2,
        markersize=5.5,
    )  # fmt: skip
    mark(line, model, f"{model}: {', '.join(f'{100 * value:.1f}' for value in values)} %")


def _crowd(axes: Axes, place: float, values: list[float]) -> None:
    if values:
        lo, middle, hi = np.quantile(values, (0.1, 0.5, 0.9))
        ends = [place - 0.22, place + 0.22]
        axes.fill_between(ends, lo, hi, color=style.CROWD, alpha=0.35, linewidth=0)
        axes.plot(ends, [middle, middle], color=style.CROWD, linewidth=1.2)


def _chance(axes: Axes, place: float, levels: list[float]) -> None:
    if levels:
        level = float(np.median(levels))
        ends = [place - 0.42, place + 0.42]
        axes.plot(ends, [level, level], color=style.MUTED, dashes=(3, 2), linewidth=1.2)
        axes.text(ends[1], level - 0.02, f"chance {100 * level:.1f}", fontsize=10, va="top",
                  ha="right", color=style.MUTED)  # fmt: skip
