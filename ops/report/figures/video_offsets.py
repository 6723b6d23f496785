"""How often a frame is wrong, by its distance from the anchor."""

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
_AFTER, _BEFORE = "all frames", "all pairs"
_TALL, _UNDER = 240, 72
# Of more models bands would hide each other.
_BANDS = 4


def figure_offsets(
    connection: duckdb.DuckDBPyConnection, models: Cast | None = None
) -> Figure | None:
    """Share of frames that are wrong though their anchor is right, by offset.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        Who is in colour; the rest is a grey band.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where nothing is measured. Each offset counts the sets that have a frame there
        (Shankar et al. 2021, figure 5). For reviewed sets the dashed line is of the same anchors
        with every frame around them, as they were before the pairs were reviewed.
    """
    models = models or cast_of(connection)
    found: dict[FrameSets, dict[str, dict[str, _Curve]]] = defaultdict(
        lambda: {_AFTER: defaultdict(dict), _BEFORE: defaultdict(dict)}
    )
    seen: set[tuple[FrameSets, str]] = set()
    for benchmark, condition, subset, model, offset, of_training, *values in connection.execute(
        """
        SELECT benchmark, condition, subset, model, frame_offset, seen_in_training, value, ci_lo,
            ci_hi
        FROM pmk_offsets
        WHERE given = 'anchor right' AND subset IN ($after, $before) AND value IS NOT NULL
        ORDER BY ALL
        """,
        {"after": _AFTER, "before": _BEFORE},
    ).fetchall():
        found[benchmark, condition][subset][model][offset] = tuple(values)
        if of_training:
            seen.add(((benchmark, condition), model))
    # With no anchor right there is nothing to be lost around it.
    found = {each: curves for each, curves in found.items() if curves[_AFTER]}
    if not found:
        return None
    with style.paper():
        return _figure(found, models, seen, strides(connection))


def _figure(
    found: dict[FrameSets, dict[str, dict[str, _Curve]]],
    models: Cast,
    seen: set[tuple[FrameSets, str]],
    stride_of: dict[FrameSets, int],
) -> Figure:
    from matplotlib.lines import Line2D

    sets = ordered(found)
    width = width_of(len(sets))
    named = sorted({model for each in sets for model in found[each][_AFTER]})
    models = models.among(named)
    extra = [seen_handle()] if seen else []
    if any(found[each][_BEFORE] for each in sets):
        label = "same anchors before their neighbours were reviewed"
        extra.append(Line2D([], [], color=style.MUTED, dashes=(3, 2), linewidth=1.2, label=label))
    legend = Legend(models, named, width=width, extra=extra)
    height = legend.height + rows_of(sets) * (_TALL + _UNDER)
    figure = style.new_figure("offsets", height, width)
    coloured = [model for model in models.chosen if model in named]
    bands = len(coloured) <= _BANDS
    top = max(
        value if not bands or hi is None else min(hi, 1.6 * value + 0.02)
        for each in sets
        for curves in found[each].values()
        for model in coloured or named
        for value, _, hi in curves.get(model, {}).values()
    )
    for each, axes, first in panels(
        figure, sets, above=legend.height, tall=_TALL, under=_UNDER, gap=40
    ):
        axes.set_xlabel(f"{steps(stride_of.get(each, 1))} from the anchor")
        if first:
            axes.set_ylabel("wrong, % of right anchors")
        axes.set_ylim(0, min(1.0, max(0.05, 1.04 * top)))
        step = 20 if top > 0.6 else 10 if top > 0.25 else 5 if top > 0.1 else 2
        style.percent_axis(axes.yaxis, step)
        _curves(axes, found[each], models, bands, {model for own, model in seen if own == each})
    legend.draw(figure)
    return figure


def _curves(
    axes: Axes,
    curves: dict[str, dict[str, _Curve]],
    models: Cast,
    bands: bool,
    seen: set[str],
) -> None:
    after, before = curves[_AFTER], curves[_BEFORE]
    reach = max(abs(offset) for curve in after.values() for offset in curve)
    step = 1 if reach <= 5 else -(-reach // 2)
    axes.set_xlim(-1.05 * reach - 0.01, 1.05 * reach + 0.01)
    ticks = sorted({0, *range(step, reach + 1, step), *range(-step, -reach - 1, -step)})
    axes.set_xticks(ticks, [f"{tick:+d}".replace("-", "−") if tick else "anchor" for tick in ticks])
    axes.grid(visible=False, axis="x")
    axes.axvline(0, color=style.GRID, linewidth=0.8)
    if models.crowded:
        values = {m: {o: v for o, (v, _, _) in c.items()} for m, c in after.items()}
        crowd_band(axes, values, range(-reach, reach + 1))
    for model in reversed(models.chosen):
        if model not in after:
            continue
        colour = models.colour(model)
        if earlier := before.get(model):
            xs = sorted(earlier)
            ys = [earlier[x][0] for x in xs]
            (line,) = axes.plot(xs, ys, color=colour, dashes=(3, 2), linewidth=1.2)
            mark(line, model, f"{model}, before the review: {_said(earlier)}")
        xs = sorted(after[model])
        points, lo, hi = zip(*(after[model][x] for x in xs), strict=True)
        if bands:
            interval(axes, models, model, xs, points, lo, hi)
        (line,) = axes.plot(
            xs, points, color=colour, marker=models.marker(model), markersize=3.6, clip_on=False
        )
        mark(line, model, f"{model}: {_said(after[model])}")
        if model in seen:
            mark_seen(axes, xs[-1], points[-1], colour)


def _said(curve: _Curve) -> str:
    first, last = min(curve), max(curve)
    ends = [f"{100 * curve[x][0]:.1f} % at {x:+d}" for x in (first, last)]
    return ", ".join(ends).replace("at -", "at −")
