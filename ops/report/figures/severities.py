"""Accuracy by severity: a panel a corruption, the clean images as severity 0."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import KINDS, Legend, crowd_band, interval
from ops.report.svg import mark
from ops.results.families import distorted

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Accuracy and its interval by severity.
_Curve = dict[int, tuple[float, float | None, float | None]]
_Panels = dict[str, dict[str, _Curve]]


def figure_severities(
    connection: duckdb.DuckDBPyConnection, benchmark: str, models: Cast | None = None
) -> Figure | None:
    """Top-1 accuracy of every model under each corruption or distortion, by severity.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    benchmark : str
        One whose conditions have severities: ``imagenet_c``, ``distorted_cifar_100`` ...
    models : Cast, optional
        Who is in colour; the rest is a grey band.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where nothing is measured. The panels of ImageNet-C are the paper's four kinds in
        rows, the extras in the last column.
    """
    models = models or cast_of(connection)
    panels = _curves(connection, benchmark)
    if not panels:
        return None
    models = models.among(_models(panels))
    with style.paper():
        if distorted(benchmark):
            return _row(benchmark, panels, models)
        return _kinds(benchmark, panels, models)


def _curves(connection: duckdb.DuckDBPyConnection, benchmark: str) -> _Panels:
    found = connection.execute(
        """
        WITH clean AS (
            SELECT DISTINCT coalesce(json_extract_string(renderer, '$.source'), '') AS source
            FROM datasets WHERE benchmark = $benchmark
        )
        SELECT model, split_part(condition, '/', 1), split_part(condition, '/', 2)::INTEGER,
            value, ci_lo, ci_hi
        FROM metrics
        WHERE benchmark = $benchmark AND metric = 'top1' AND variant = 'unmasked'
            AND contains(condition, '/')
        UNION ALL
        SELECT model, '', 0, value, ci_lo, ci_hi FROM metrics
        WHERE metric = 'top1' AND variant = 'unmasked' AND benchmark || '/' || condition = coalesce(
            (SELECT max(source) FROM clean WHERE source <> ''), 'imagenet_1k/val')
        ORDER BY ALL
        """,
        {"benchmark": benchmark},
    ).fetchall()
    panels: _Panels = defaultdict(lambda: defaultdict(dict))
    clean = {}
    for model, name, severity, *values in found:
        if severity:
            panels[name][model][severity] = tuple(values)
        else:
            clean[model] = tuple(values)
    for curves in panels.values():
        for model, curve in curves.items():
            if model in clean:
                curve[0] = clean[model]
    return panels


def _kinds(benchmark: str, panels: _Panels, models: Cast) -> Figure:
    rows = [
        (kind, [*names, extra])
        for kind, names, extra in KINDS
        if any(n in panels for n in (*names, extra))
    ]
    extras = any(extra in panels for _, _, extra in KINDS)
    across = 5 if extras else 4
    legend = Legend(models, _models(panels))
    height = legend.height + 62 + 166 * len(rows)
    figure = style.new_figure(f"severities {benchmark}", height)
    grid = figure.subplots(len(rows), across, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.075, right=0.992, top=1 - (legend.height + 20) / height, bottom=42 / height,
        wspace=0.1, hspace=0.3,
    )  # fmt: skip
    for row, (kind, names) in enumerate(rows):
        present = [name for name in names[:-1] if name in panels]
        # The extra stands in the last column, whatever is missing before it.
        slots = [*present, *[""] * (across - len(present))][:across]
        if names[-1] in panels:
            slots[-1] = names[-1]
        for column, name in enumerate(slots):
            axes = grid[row][column]
            if not name:
                style.bare(axes)
                continue
            _panel(axes, panels[name], models)
            axes.set_title(style.plain_name(name))
            if name == names[-1]:
                axes.set_title("extra, in no mean", loc="right", fontsize=9.5, color=style.MUTED,
                               fontweight="normal")  # fmt: skip
        at = grid[row][0].get_position()
        figure.text(0.004, (at.y0 + at.y1) / 2, kind, rotation=90, va="center", fontsize=12.5,
                    fontweight="bold")  # fmt: skip
    legend.draw(figure)
    figure.text(0.53, 8 / height, "severity", ha="center")
    middle = (grid[-1][0].get_position().y0 + grid[0][0].get_position().y1) / 2
    figure.text(0.028, middle, "top-1 accuracy, %", rotation=90, va="center", color=style.MUTED)
    return figure


def _row(benchmark: str, panels: _Panels, models: Cast) -> Figure:
    names, width = sorted(panels), 720
    legend = Legend(models, _models(panels), width=width)
    height = legend.height + 290
    figure = style.new_figure(f"severities {benchmark}", height, width)
    grid = figure.subplots(1, max(2, len(names)), sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.09, right=0.99, top=1 - (legend.height + 24) / height, bottom=50 / height,
        wspace=0.1,
    )  # fmt: skip
    for axes, name in zip(grid[0], names, strict=False):
        _panel(axes, panels[name], models)
        axes.set_title(style.plain_name(name))
        axes.set_xlabel("level")
    for axes in grid[0][len(names) :]:
        style.bare(axes)
    grid[0][0].set_ylabel("top-1 accuracy, %")
    legend.draw(figure)
    return figure


def _models(panels: _Panels) -> list[str]:
    return sorted({model for curves in panels.values() for model in curves})


def _panel(axes: Axes, curves: dict[str, _Curve], models: Cast) -> None:
    severities = sorted({severity for curve in curves.values() for severity in curve})
    style.percent_axis(axes.yaxis)
    axes.set_ylim(0, 1)
    axes.set_xlim(-0.25, severities[-1] + 0.25)
    axes.set_xticks(severities, ["clean" if s == 0 else str(s) for s in severities])
    axes.grid(visible=False, axis="x")
    if models.crowded:
        plain = {m: {s: value for s, (value, _, _) in c.items()} for m, c in curves.items()}
        crowd_band(axes, plain, severities)
    # The best on top.
    for model in reversed(models.chosen):
        if model not in curves:
            continue
        xs = sorted(curves[model])
        ys, lo, hi = zip(*(curves[model][x] for x in xs), strict=True)
        interval(axes, models, model, xs, ys, lo, hi)
        (line,) = axes.plot(
            xs, ys, color=models.colour(model), marker=models.marker(model), clip_on=False
        )
        mark(line, model, f"{model}: {', '.join(f'{100 * y:.1f}' for y in ys)} %")
