"""ImageNet-P: how often the prediction changes from frame to frame, by perturbation."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ops.metrics.flips import PERTURBATIONS_10
from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Point = tuple[float, float | None, float | None]


def figure_flips(
    connection: duckdb.DuckDBPyConnection, benchmark: str, models: Cast | None = None
) -> Figure | None:
    """Flip probability of every perturbation, and the mean of the ten.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    benchmark : str
        ``imagenet_p`` or one of its rendered forms.
    models : Cast, optional
        Who is in colour; the rest is a grey bar, the middle 80 %.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where nothing is measured. Intervals resample source images.
    """
    models = models or cast_of(connection)
    table: dict[str, dict[str, _Point]] = defaultdict(dict)
    for condition, model, *point in connection.execute(
        """
        SELECT condition, model, value, ci_lo, ci_hi FROM metrics
        WHERE benchmark = $benchmark AND value IS NOT NULL
            AND (metric = 'flip_probability' AND variant LIKE 'relative to %'
                OR metric = 'mean_flip_probability_10' AND variant = 'unnormalised')
        ORDER BY ALL
        """,
        {"benchmark": benchmark},
    ).fetchall():
        table[condition][model] = tuple(point)
    names = [name for name in PERTURBATIONS_10 if name in table]
    names += sorted(set(table) - {*PERTURBATIONS_10, "all"})
    if not names:
        return None
    with style.paper():
        return _figure(benchmark, table, [*names, *(["all"] if "all" in table else [])], models)


def _figure(
    benchmark: str, table: dict[str, dict[str, _Point]], names: list[str], models: Cast
) -> Figure:
    width = 860
    legend = Legend(models, sorted({m for row in table.values() for m in row}), width=width)
    row = 17 + 4 * min(len(models.chosen), 8)
    height = legend.height + row * len(names) + 48
    figure = style.new_figure(f"flips {benchmark}", height, width)
    axes = figure.add_axes(
        (150 / width, 44 / height, (width - 170) / width, row * len(names) / height)
    )
    for y, name in enumerate(names):
        _row(axes, y, table[name], models)
        if y % 2 == 0:
            axes.axhspan(y - 0.5, y + 0.5, color=style.GRID, alpha=0.35, linewidth=0)
    labels = ["mean of 10" if name == "all" else style.plain_name(name) for name in names]
    axes.set_yticks(range(len(names)), labels)
    if names[-1] == "all":
        axes.get_yticklabels()[-1].set_fontweight("bold")
        axes.axhline(len(names) - 1.5, color=style.MUTED, linewidth=0.8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    high = axes.get_xlim()[1]
    step = next((step for step in (10, 5, 2) if high > 0.04 * step), 1)
    style.percent_axis(axes.xaxis, step)
    axes.set_xlabel("flip probability, %")
    legend.draw(figure)
    return figure


def _row(axes: Axes, y: int, points: dict[str, _Point], models: Cast) -> None:
    if models.crowded:
        lo, middle, hi = np.quantile([value for value, _, _ in points.values()], (0.1, 0.5, 0.9))
        axes.fill_between([lo, hi], y - 0.34, y + 0.34, color=style.CROWD, alpha=0.35, linewidth=0)
        axes.plot([middle, middle], [y - 0.34, y + 0.34], color=style.CROWD, linewidth=1.2)
    shown = [model for model in models.chosen if model in points]
    for i, model in enumerate(shown):
        at = y + (i - (len(shown) - 1) / 2) * 0.66 / max(len(shown), 2)
        value, lo, hi = points[model]
        colour = models.colour(model)
        if lo is not None and hi is not None:
            bar = axes.hlines(at, max(lo, 0), hi, color=colour, linewidth=1.4)
            mark(bar, model, "")
        (dot,) = axes.plot(
            [value], [at], marker=models.marker(model), color=colour, linestyle="",
            markersize=5.5, clip_on=False, zorder=4,
        )  # fmt: skip
        mark(dot, model, f"{model}: {100 * value:.2f} %")
