"""Accuracy under shift against accuracy without, on logit axes: own models and published ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import Legend
from ops.report.svg import mark, mark_points

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VAL = ("imagenet_1k", "val", "top1", "unmasked")


class Shift(NamedTuple):
    """A shifted accuracy, and what it is set against."""

    title: str
    shifted: tuple[str, str, str, str]
    clean: tuple[str, str, str, str]
    across: str


def _plain(title: str, benchmark: str, condition: str) -> Shift:
    return Shift(title, (benchmark, condition, "top1", "unmasked"), _VAL, "ImageNet")


def _masked(title: str, benchmark: str) -> Shift:
    clean = ("imagenet_1k", "val", "top1", f"clean_200/{benchmark}")
    return Shift(title, (benchmark, "clean", "top1", "masked"), clean, "ImageNet, same 200 classes")


def _neighbours(title: str, benchmark: str) -> Shift:
    shifted, clean = ((benchmark, "clean", f"pm{k}", "with anchor") for k in (10, 0))
    return Shift(title, shifted, clean, "its anchors alone (pm-0)")


# The anchors of the videos against validation images of the same classes are no panel: only
# published models have that accuracy, so none of one's own would stand in it.
SHIFTS = (
    _plain("ImageNetV2, matched frequency", "imagenetv2", "matched_frequency"),
    _plain("ImageNetV2, threshold 0.7", "imagenetv2", "threshold07"),
    _plain("ImageNetV2, top images", "imagenetv2", "top_images"),
    _plain("ImageNet-Sketch", "imagenet_sketch", "clean"),
    _masked("ImageNet-R", "imagenet_r"),
    _masked("ImageNet-A", "imagenet_a"),
    _neighbours("ImageNet-Vid, pm-10", "imagenet_vid_robust"),
    _neighbours("YTBB, pm-10", "ytbb_robust"),
)


class _Own(NamedTuple):
    model: str
    x: float
    y: float
    x_lo: float | None
    x_hi: float | None
    lo: float | None
    hi: float | None


class _Published(NamedTuple):
    model: str
    kind: str
    x: float
    y: float
    in_pool: bool
    slope: float
    intercept: float
    source: str


def figure_shifts(
    connection: duckdb.DuckDBPyConnection, models: Cast | None = None
) -> Figure | None:
    """A panel for each natural shift, on logit axes as Taori et al. draw it.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        Who is in colour; other models are grey dots with a tooltip.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where no model has both accuracies. Published models are pale, the line is fitted
        through those trained in the standard way, with the 95 % band of the fit; the dashed line
        is the same accuracy on both.
    """
    models = models or cast_of(connection)
    own, published = _own(connection), _published(connection)
    shifts = [shift for shift in SHIFTS if own[shift.shifted]]
    if not shifts:
        return None
    with style.paper():
        return _figure(shifts, own, published, models)


def _own(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str, str, str], list[_Own]]:
    points: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
    keys = sorted({key for shift in SHIFTS for key in (shift.shifted, shift.clean)})
    listed = ", ".join(f"({', '.join(repr(part) for part in key)})" for key in keys)
    for *key, model, value, lo, hi in connection.execute(
        f"""
        SELECT benchmark, condition, metric, variant, model, value, ci_lo, ci_hi FROM metrics
        WHERE (benchmark, condition, metric, variant) IN ({listed}) AND value IS NOT NULL
        ORDER BY ALL
        """
    ).fetchall():
        points[tuple(key)][model] = (value, lo, hi)
    found = defaultdict(list)
    for shift in SHIFTS:
        clean = points[shift.clean]
        for model, (y, lo, hi) in points[shift.shifted].items():
            if model in clean:
                x, x_lo, x_hi = clean[model]
                found[shift.shifted].append(_Own(model, x, y, x_lo, x_hi, lo, hi))
    return found


def _published(
    connection: duckdb.DuckDBPyConnection,
) -> dict[tuple[str, str, str, str], list[_Published]]:
    found = defaultdict(list)
    for *key, model, kind, x, y, in_pool, slope, intercept, source in connection.execute(
        """
        SELECT benchmark, condition, metric, variant, model, coalesce(model_kind, ''),
            accuracy_id, accuracy, in_pool, slope, intercept, pool
        FROM effective_robustness
        WHERE origin = pool
        QUALIFY n_pool = max(n_pool) OVER (PARTITION BY benchmark, condition, metric, variant)
        ORDER BY ALL
        """
    ).fetchall():
        found[tuple(key)].append(_Published(model, kind, x, y, in_pool, slope, intercept, source))
    return found


def _figure(shifts: list[Shift], own: Any, published: Any, models: Cast) -> Figure:
    from matplotlib.lines import Line2D

    across = min(len(shifts), 3)
    down = -(-len(shifts) // across)
    named = sorted({point.model for shift in shifts for point in own[shift.shifted]})
    dots: dict[str, Any] = {"linestyle": "", "color": style.CROWD}
    extra = [Line2D([], [], color=style.MUTED, dashes=(4, 3), linewidth=1, label="same accuracy")]
    if len(named) > len(models.chosen):
        label = f"the other {len(named) - len(models.chosen):,} models"
        extra.insert(0, Line2D([], [], marker="o", markersize=3.5, label=label, **dots))
    if any(published[shift.shifted] for shift in shifts):
        hollow = {**dots, "marker": "o", "markersize": 3.5, "markerfacecolor": "none"}
        extra.append(Line2D([], [], label="published", **hollow))
        label = "fit to published standard models"
        extra.append(Line2D([], [], color=style.INK, linewidth=1.2, label=label))
    panel, width = 300, 40 + 360 * across
    legend = Legend(models, named, crowd="", width=width, extra=extra)
    height = legend.height + down * (panel + 66)
    figure = style.new_figure("shifts", height, width)
    for i, shift in enumerate(shifts):
        left = (i % across) * 360 + 62
        top = legend.height + (i // across) * (panel + 66) + 18
        axes = figure.add_axes(
            (left / width, 1 - (top + panel) / height, panel / width, panel / height)
        )
        _panel(axes, shift, own[shift.shifted], published[shift.shifted], models)
    legend.draw(figure)
    return figure


def _panel(
    axes: Axes, shift: Shift, own: list[_Own], published: list[_Published], models: Cast
) -> None:
    from ops.metrics.effective_robustness import logit

    axes.set_title(shift.title)
    axes.set_xlabel(f"{shift.across}, %")
    axes.set_ylabel("accuracy here, %", color=style.MUTED)
    _scale(axes, own, published)
    (same,) = axes.plot([-20, 20], [-20, 20], color=style.MUTED, dashes=(4, 3), linewidth=1)
    same.set_clip_on(True)
    dots: dict[str, Any] = {"linestyle": "", "marker": "o"}
    inner = [point for point in published if 0 < point.x < 1 and 0 < point.y < 1]
    if inner:
        (line,) = axes.plot(
            logit([p.x for p in inner]), logit([p.y for p in inner]), **dots, markersize=3.6,
            markerfacecolor="none", markeredgecolor=style.CROWD, markeredgewidth=0.8,
        )  # fmt: skip
        mark_points(line, [("", _said(p.model, p.x, p.y, p.kind)) for p in inner])
        _fit(axes, shift, published)
    crowd = [point for point in own if point.model not in models.chosen]
    if crowd:
        x, y = (_inside(axes, [getattr(p, name) for p in crowd], name) for name in "xy")
        (line,) = axes.plot(x, y, **dots, markersize=3.4, color=style.CROWD, markeredgewidth=0)
        mark_points(line, [(p.model, _said(p.model, p.x, p.y)) for p in crowd])
    for point in sorted(own, key=lambda p: models.models.index(p.model)):
        if point.model in models.chosen:
            _coloured(axes, point, models)
    few = [point for point in own if point.model in models.chosen]
    if not models.crowded and len(few) <= 3:
        for point in few:
            x, y = _inside(axes, [point.x], "x")[0], _inside(axes, [point.y], "y")[0]
            low, high = axes.get_xlim()
            right = x > (low + high) / 2
            text = axes.annotate(
                style.short(point.model, 22), (x, y), (-7, 6) if right else (7, -13),
                textcoords="offset points", ha="right" if right else "left", fontsize=10,
                color=models.colour(point.model),
            )  # fmt: skip
            mark(text, point.model, "")


def _coloured(axes: Axes, point: _Own, models: Cast) -> None:
    colour = models.colour(point.model)
    x, y = _inside(axes, [point.x], "x")[0], _inside(axes, [point.y], "y")[0]
    for bounds, vertical in (((point.lo, point.hi), True), ((point.x_lo, point.x_hi), False)):
        if None in bounds:
            continue
        ends = _inside(axes, list(bounds), "y" if vertical else "x")
        xs, ys = ([x, x], ends) if vertical else (ends, [y, y])
        (bar,) = axes.plot(xs, ys, color=colour, linewidth=1.2, solid_capstyle="butt")
        mark(bar, point.model, "")
    (dot,) = axes.plot(
        [x], [y], marker=models.marker(point.model), linestyle="", color=colour, markersize=6.5,
        markeredgecolor=style.PAPER, markeredgewidth=0.8, clip_on=False, zorder=5,
    )  # fmt: skip
    mark(dot, point.model, _said(point.model, point.x, point.y))


def _fit(axes: Axes, shift: Shift, published: list[_Published]) -> None:
    from ops.metrics.effective_robustness import expit, fit_band, logit

    pool = [point for point in published if point.in_pool]
    low, high = axes.get_xlim()
    at = np.linspace(low, high, 60)
    lo, hi = fit_band(
        [p.x for p in pool], [p.y for p in pool], expit(at), pool[0].source, *shift.shifted
    )
    axes.fill_between(at, logit(lo), logit(hi), color=style.CROWD, alpha=0.45, linewidth=0)
    axes.plot(at, pool[0].slope * at + pool[0].intercept, color=style.INK, linewidth=1.2)


def _scale(axes: Axes, own: list[_Own], published: list[_Published]) -> None:
    """Limits around what is drawn, and ticks at round percentages."""
    from ops.metrics.effective_robustness import logit

    for side, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        names = {"x": ("x", "x_lo", "x_hi"), "y": ("y", "lo", "hi")}[side]
        values = [getattr(p, name) for p in own for name in names]
        values += [getattr(p, side) for p in published]
        shown = logit(np.clip([v for v in values if v is not None], 0.01, 0.99))
        spread = max(0.4, 0.06 * float(np.ptp(shown)))
        low, high = float(shown.min()) - spread, float(shown.max()) + spread
        (axes.set_xlim if side == "x" else axes.set_ylim)(low, high)
        ticks = np.array([1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99])
        at = logit(ticks / 100)
        inside = [(t, a) for t, a in zip(ticks, at, strict=True) if low <= a <= high]
        # No more than what fits side by side.
        kept: list[tuple[Any, Any]] = []
        for tick, where in inside:
            if not kept or where - kept[-1][1] > (high - low) / 11:
                kept.append((tick, where))
        axis.set_ticks([a for _, a in kept], [str(t) for t, _ in kept])


def _inside(axes: Axes, shares: list[Any], side: str) -> Any:
    """Logits of shares; 0 and 1, whose logits are infinite, at the edge."""
    from ops.metrics.effective_robustness import logit

    low, high = axes.get_xlim() if side == "x" else axes.get_ylim()
    return np.clip(logit(shares), low, high)


def _said(model: str, x: float, y: float, kind: str = "") -> str:
    return f"{model}{f' ({kind})' if kind else ''}: {100 * x:.2f} % to {100 * y:.2f} %"
