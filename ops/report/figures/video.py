"""pm-k: accuracy of video anchors when the worst frame within k of each counts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend, crowd_band, interval
from ops.report.figures.video_panels import (
    FrameSets,
    mark_seen,
    ordered,
    panels,
    rows_of,
    seen_handle,
    steps,
    strides,
    width_of,
)
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Curve = dict[int, tuple[float, float | None, float | None]]
_TALL, _UNDER = 262, 72


def figure_pm_k(connection: duckdb.DuckDBPyConnection, models: Cast | None = None) -> Figure | None:
    """The pm-k curve, a panel for each set of video frames.

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
    found: dict[FrameSets, dict[str, _Curve]] = defaultdict(lambda: defaultdict(dict))
    seen: set[tuple[FrameSets, str]] = set()
    for benchmark, condition, model, k, of_training, *values in connection.execute(
        """
        SELECT benchmark, condition, model, frames_around, seen_in_training, value, ci_lo, ci_hi
        FROM pmk
        WHERE frames_around IS NOT NULL AND value IS NOT NULL AND variant = 'with anchor'
            AND metric = 'pm' || frames_around
        ORDER BY ALL
        """
    ).fetchall():
        found[benchmark, condition][model][k] = tuple(values)
        if of_training:
            seen.add(((benchmark, condition), model))
    if not found:
        return None
    with style.paper():
        return _figure(found, models, seen, strides(connection))


def _figure(
    found: dict[FrameSets, dict[str, _Curve]],
    models: Cast,
    seen: set[tuple[FrameSets, str]],
    stride_of: dict[FrameSets, int],
) -> Figure:
    sets = ordered(found)
    width = width_of(len(sets))
    named = sorted({model for each in sets for model in found[each]})
    models = models.among(named)
    legend = Legend(models, named, width=width, extra=[seen_handle()] if seen else [])
    height = legend.height + rows_of(sets) * (_TALL + _UNDER)
    figure = style.new_figure("pm-k", height, width)
    drawn = panels(figure, sets, above=legend.height, tall=_TALL, under=_UNDER, gap=40)
    for each, axes, first in drawn:
        style.percent_axis(axes.yaxis, 20)
        # Room for a marker at 100 %.
        axes.set_ylim(0, 1.03)
        if first:
            axes.set_ylabel("accuracy, %")
        axes.set_xlabel(f"k: {steps(stride_of.get(each, 1))} to either side of the anchor")
        _curves(axes, found[each], models, {model for own, model in seen if own == each})
    legend.draw(figure)
    return figure


def _curves(axes: Axes, curves: dict[str, _Curve], models: Cast, seen: set[str]) -> None:
    reach = max(k for curve in curves.values() for k in curve)
    axes.set_xlim(-0.03 * reach - 0.01, 1.03 * reach + 0.01)
    axes.set_xticks(range(0, reach + 1, max(1, -(-reach // 5))))
    axes.grid(visible=False, axis="x")
    if models.crowded:
        values = {m: {k: v for k, (v, _, _) in c.items()} for m, c in curves.items()}
        crowd_band(axes, values, range(reach + 1))
    for model in reversed(models.chosen):
        if model not in curves:
            continue
        xs = sorted(curves[model])
        ys, lo, hi = zip(*(curves[model][x] for x in xs), strict=True)
        interval(axes, models, model, xs, ys, lo, hi)
        (line,) = axes.plot(xs, ys, color=models.colour(model), marker=models.marker(model))
        said = f"{model}: pm-{xs[0]} {100 * ys[0]:.1f} %, pm-{xs[-1]} {100 * ys[-1]:.1f} %"
        mark(line, model, said)
        if model in seen:
            mark_seen(axes, xs[-1], ys[-1], models.colour(model))
