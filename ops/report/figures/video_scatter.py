"""Original against perturbed: anchors right alone, and right with every frame around them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend
from ops.report.figures.video_panels import (
    FrameSets,
    across,
    mark_seen,
    ordered,
    panels,
    rows_of,
    seen_handle,
)
from ops.report.svg import mark, mark_points

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# To the right of each panel stand the lines' drops.
_SIDE, _UNDER, _LEFT, _RIGHT, _GAP = 306, 70, 58, 30, 66
# Lines of equal drop, in points.
_DROPS = (10, 20, 30)


class _Point(NamedTuple):
    model: str
    k: int
    seen: bool
    x: float
    x_lo: float | None
    x_hi: float | None
    y: float
    lo: float | None
    hi: float | None


class _Published(NamedTuple):
    model: str
    kind: str
    x: float
    y: float


def figure_pm_k_scatter(
    connection: duckdb.DuckDBPyConnection, models: Cast | None = None
) -> Figure | None:
    """Accuracy on anchors (pm-0) against accuracy on whole neighbourhoods (pm-10).

    Of a set that was mined less far, pm-k: its panel says so.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        Who is in colour; other models are grey dots with a tooltip.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where no model has both. Bars are exact 95 % intervals of either share; they are of
        the same anchors, so that the interval of the drop is narrower than they look. Published
        models are pale circles. On the diagonal nothing is lost, along the fine lines the same.
    """
    models = models or cast_of(connection)
    own, published = _own(connection), _published(connection)
    if not own:
        return None
    with style.paper():
        return _figure(own, published, models)


def _own(connection: duckdb.DuckDBPyConnection) -> dict[FrameSets, list[_Point]]:
    found = defaultdict(list)
    for benchmark, condition, *point in connection.execute(
        """
        SELECT benchmark, condition, model, p.frames_around, p.seen_in_training,
            o.value, o.ci_lo, o.ci_hi, p.value, p.ci_lo, p.ci_hi
        FROM pmk AS o JOIN pmk AS p USING (benchmark, condition, model, variant)
        WHERE o.metric = 'pm0' AND p.widest AND variant = 'with anchor'
            AND o.value IS NOT NULL AND p.value IS NOT NULL
        ORDER BY ALL
        """
    ).fetchall():
        found[benchmark, condition].append(_Point(*point))
    return found


def _published(connection: duckdb.DuckDBPyConnection) -> dict[FrameSets, list[_Published]]:
    found = defaultdict(list)
    for benchmark, condition, *point in connection.execute(
        """
        SELECT benchmark, condition, o.model, coalesce(o.model_kind, ''), o.value, p.value
        FROM reference_results AS o
        JOIN reference_results AS p USING (benchmark, condition, source, revision, model)
        WHERE o.metric = 'pm0' AND p.metric = 'pm10'
            AND o.variant = 'with anchor' AND p.variant = 'with anchor'
            AND o.image_size IS NOT DISTINCT FROM p.image_size
        ORDER BY ALL
        """
    ).fetchall():
        found[benchmark, condition].append(_Published(*point))
    return found


def _figure(
    own: dict[FrameSets, list[_Point]],
    published: dict[FrameSets, list[_Published]],
    models: Cast,
) -> Figure:
    from matplotlib.lines import Line2D

    sets = ordered(own)
    named = sorted({point.model for each in sets for point in own[each]})
    models = models.among(named)
    ks = {each: own[each][0].k for each in sets}
    within = "10" if set(ks.values()) == {10} else "k"
    dots: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 3.5,
                            "color": style.CROWD}  # fmt: skip
    extra = [Line2D([], [], color=style.MUTED, dashes=(4, 3), linewidth=1, label="nothing lost")]
    if len(named) > len(models.chosen):
        label = f"the other {len(named) - len(models.chosen):,} models"
        extra.insert(0, Line2D([], [], label=label, **dots))
    if any(published.get(each) for each in sets):
        label = "published"
        extra.append(Line2D([], [], markerfacecolor="none", label=label, **dots))
    if any(point.seen for each in sets for point in own[each]):
        extra.append(seen_handle())
    columns = across(len(sets))
    # Panels are square, so that the diagonal is one.
    width = _LEFT + columns * _SIDE + (columns - 1) * _GAP + _RIGHT
    legend = Legend(models, named, crowd="", width=width, extra=extra)
    height = legend.height + rows_of(sets) * (_SIDE + _UNDER)
    figure = style.new_figure("pm-k scatter", height, width)
    drawn = panels(
        figure, sets, above=legend.height, tall=_SIDE, under=_UNDER, left=_LEFT, right=_RIGHT,
        gap=_GAP, more={each: f", k = {k}" for each, k in ks.items() if within == "k"},
    )  # fmt: skip
    for each, axes, first in drawn:
        axes.set_xlabel("anchors alone (pm-0), %")
        if first:
            axes.set_ylabel(f"all frames within {within} (pm-{within}), %")
        _panel(axes, own[each], published.get(each, []), models)
    legend.draw(figure)
    return figure


def _panel(axes: Axes, own: list[_Point], published: list[_Published], models: Cast) -> None:
    low, high = _limits(axes, own, published)
    axes.plot([low, high], [low, high], color=style.MUTED, dashes=(4, 3), linewidth=1)
    for drop in _DROPS:
        if low + drop / 100 < high - 0.04:
            axes.plot(
                [low + drop / 100, high], [low, high - drop / 100], color=style.GRID, linewidth=1
            )
            axes.annotate(
                f"−{drop}", (high, high - drop / 100), (4, 0), textcoords="offset points",
                va="center", fontsize=9, color=style.MUTED, annotation_clip=False,
            )  # fmt: skip
    if published:
        (line,) = axes.plot(
            [p.x for p in published], [p.y for p in published], linestyle="", marker="o",
            markersize=3.6, markerfacecolor="none", markeredgecolor=style.CROWD,
            markeredgewidth=0.8,
        )  # fmt: skip
        mark_points(line, [("", _said(p.model, p.x, p.y, p.kind)) for p in published])
    crowd = [point for point in own if point.model not in models.chosen]
    if crowd:
        (line,) = axes.plot(
            [p.x for p in crowd], [p.y for p in crowd], linestyle="", marker="o", markersize=3.4,
            color=style.CROWD, markeredgewidth=0,
        )  # fmt: skip
        mark_points(line, [(p.model, _said(p.model, p.x, p.y)) for p in crowd])
        for point in crowd:
            if point.seen:
                mark_seen(axes, point.x, point.y, style.MUTED)
    by_model = {point.model: point for point in own}
    for model in reversed(models.chosen):
        if model in by_model:
            _coloured(axes, by_model[model], models)


def _coloured(axes: Axes, point: _Point, models: Cast) -> None:
    colour = models.colour(point.model)
    bars = (
        ([point.x, point.x], [point.lo, point.hi]),
        ([point.x_lo, point.x_hi], [point.y, point.y]),
    )
    for xs, ys in bars:
        if None not in (*xs, *ys):
            (bar,) = axes.plot(
                [float(x or 0) for x in xs], [float(y or 0) for y in ys], color=colour,
                linewidth=1.2, solid_capstyle="butt",
            )  # fmt: skip
            mark(bar, point.model, "")
    (dot,) = axes.plot(
        [point.x], [point.y], marker=models.marker(point.model), linestyle="", color=colour,
        markersize=7, markeredgecolor=style.PAPER, markeredgewidth=0.8, clip_on=False, zorder=5,
    )  # fmt: skip
    mark(dot, point.model, _said(point.model, point.x, point.y))
    if point.seen:
        mark_seen(axes, point.x, point.y, colour)


def _limits(axes: Axes, own: list[_Point], published: list[_Published]) -> tuple[float, float]:
    """The same limits on both axes, around all that is drawn."""
    values = [value for p in own for value in p[3:] if value is not None]
    values += [value for p in published for value in (p.x, p.y)]
    low, high = min(map(float, values)), max(map(float, values))
    margin = max(0.03, 0.05 * (high - low))
    low, high = max(-0.02, low - margin), min(1.02, high + margin)
    for axis, limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        style.percent_axis(axis, 20 if high - low > 0.6 else 10 if high - low > 0.25 else 5)
        limit(low, high)
    return low, high


def _said(model: str, x: float, y: float, kind: str = "") -> str:
    known = f"{model}{f' ({kind})' if kind else ''}"
    return f"{known}: {100 * x:.2f} % to {100 * y:.2f} %, {100 * (x - y):.2f} points lost"
