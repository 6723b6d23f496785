"""pm-k: accuracy of video anchors when the worst frame within k of each counts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend, crowd_band, interval
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.figure import Figure

_NAMES = {"imagenet_vid_robust": "ImageNet-Vid-Robust", "ytbb_robust": "YTBB-Robust"}
_Curve = dict[int, tuple[float, float | None, float | None]]


def figure_pm_k(connection: duckdb.DuckDBPyConnection, models: Cast | None = None) -> Figure | None:
    """The pm-k curve for k = 0 to 10, a panel a video benchmark.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        Who is in colour; the rest is a grey band.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where nothing is measured. Intervals are exact, over anchors.
    """
    models = models or cast_of(connection)
    panels: dict[str, dict[str, _Curve]] = defaultdict(lambda: defaultdict(dict))
    for benchmark, model, k, *values in connection.execute(
        """
        SELECT benchmark, model, frames_around, value, ci_lo, ci_hi FROM pmk
        WHERE frames_around IS NOT NULL AND value IS NOT NULL AND variant = 'with anchor'
            AND metric = 'pm' || frames_around
        ORDER BY ALL
        """
    ).fetchall():
        panels[benchmark][model][k] = tuple(values)
    if not panels:
        return None
    with style.paper():
        return _figure(panels, models)


def _figure(panels: dict[str, dict[str, _Curve]], models: Cast) -> Figure:
    width = 980
    named = sorted({model for curves in panels.values() for model in curves})
    legend = Legend(models, named, width=width)
    height = legend.height + 340
    figure = style.new_figure("pm-k", height, width)
    grid = figure.subplots(1, 2, sharey=True, squeeze=False)[0]
    figure.subplots_adjust(
        left=0.07, right=0.99, top=1 - (legend.height + 22) / height, bottom=48 / height,
        wspace=0.08,
    )  # fmt: skip
    for axes, (benchmark, curves) in zip(grid, sorted(panels.items()), strict=False):
        axes.set_title(_NAMES.get(benchmark, benchmark))
        style.percent_axis(axes.yaxis, 20)
        axes.set_ylim(0, 1)
        axes.set_xlim(-0.3, 10.3)
        axes.set_xticks(range(0, 11, 2))
        axes.grid(visible=False, axis="x")
        axes.set_xlabel("k: frames to either side of the anchor")
        if models.crowded:
            crowd_band(axes, {m: {k: v for k, (v, _, _) in c.items()} for m, c in curves.items()},
                       range(11))  # fmt: skip
        for model in reversed(models.chosen):
            if model not in curves:
                continue
            xs = sorted(curves[model])
            ys, lo, hi = zip(*(curves[model][x] for x in xs), strict=True)
            interval(axes, models, model, xs, ys, lo, hi)
            (line,) = axes.plot(xs, ys, color=models.colour(model), marker=models.marker(model))
            said = f"{model}: pm-{xs[0]} {100 * ys[0]:.1f} %, pm-{xs[-1]} {100 * ys[-1]:.1f} %"
            mark(line, model, said)
    grid[0].set_ylabel("accuracy, %")
    for axes in grid[len(panels) :]:
        style.bare(axes)
    legend.draw(figure)
    return figure
