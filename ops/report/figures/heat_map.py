"""Corruptions against models: one number and one colour a cell."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.figures.layout import KINDS
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.figure import Figure

MOST = 40
# Of fewer corruptions no map is drawn.
FEWEST = 3
_CELL = 24
# A colour map that gets darker evenly, also for people with colour-blindness.
_MAP = "YlOrBr"


def figure_heat_map(
    connection: duckdb.DuckDBPyConnection,
    benchmark: str,
    models: Cast | None = None,
    *,
    most: int = MOST,
) -> Figure | None:
    """The corruption error of every model under each corruption, in percent of AlexNet's.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    benchmark : str
        ``imagenet_c`` or one of its rendered forms.
    models : Cast, optional
        Those in colour are always among the rows.
    most : int
        Rows; of more models the best, the worst and some evenly between are shown.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where fewer than three corruptions are measured. Rows are sorted by their mean,
        columns by kind.
    """
    models = models or cast_of(connection)
    table = _table(connection, benchmark)
    if len({name for row in table.values() for name in row}) < FEWEST:
        return None
    rows = sorted(table, key=lambda model: (_mean(table[model]), model))
    kept = heat_map_rows(rows, models, most)
    with style.paper():
        return _figure(benchmark, {model: table[model] for model in kept}, len(rows))


def heat_map_rows(ranked: list[str], models: Cast, most: int = MOST) -> list[str]:
    """Which of the ranked models are shown: the best, the worst, the chosen, and some between."""
    if len(ranked) <= most:
        return ranked
    best, worst = most * 3 // 10, most // 5
    kept = {*ranked[:best], *ranked[-worst:], *(m for m in models.chosen if m in ranked)}
    middle = [model for model in ranked if model not in kept]
    for i in np.linspace(0, len(middle) - 1, most - len(kept)).round().astype(int):
        kept.add(middle[i])
    return [model for model in ranked if model in kept]


def _table(connection: duckdb.DuckDBPyConnection, benchmark: str) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for model, corruption, value in connection.execute(
        """
        SELECT model, condition, value FROM metrics
        WHERE benchmark = $benchmark AND metric = 'ce_alexnet_pct' AND variant = 'alexnet'
            AND value IS NOT NULL
        ORDER BY ALL
        """,
        {"benchmark": benchmark},
    ).fetchall():
        table[model][corruption] = value
    return table


def _mean(row: dict[str, float]) -> float:
    own = [row[name] for _, names, _ in KINDS for name in names if name in row]
    return float(np.mean(own)) if own else float("inf")


def _all_15(row: dict[str, float]) -> bool:
    return all(name in row for _, names, _ in KINDS for name in names)


def _figure(benchmark: str, table: dict[str, dict[str, float]], total: int) -> Figure:
    from matplotlib import colormaps
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    seen = {name for row in table.values() for name in row}
    names = [name for _, own, _ in KINDS for name in own if name in seen]
    means = any(_all_15(row) for row in table.values())
    extras = [extra for _, _, extra in KINDS if extra in seen]
    values = [value for row in table.values() for value in row.values()]
    bounds = 10 * np.floor(min(values) / 10), 10 * np.ceil(max(values) / 10)
    # Blank space between the kinds, a wider one before what no mean counts.
    x, left, heads = 0.0, {}, []
    for kind, own, _ in KINDS:
        present = [name for name in own if name in seen]
        heads += [(x, kind)] * bool(present)
        for name in present:
            left[name], x = x, x + 1
        x += 0.18 if present else 0
    if extras:
        heads.append((x + 0.15, "Extras"))
        x += 0.15
        for name in extras:
            left[name], x = x, x + 1
        x += 0.18
    x += 0.15
    mean_at, across = x, x + 1.15 * means
    header, footer = 92, 46
    height = header + _CELL * len(table) + footer
    names_width = 20 + 6.6 * max(len(style.short(model)) for model in table)
    figure = style.new_figure(f"heat map {benchmark}", height)
    wide = min(style.WIDTH - names_width - 52, 48 * across)
    axes = figure.add_axes((
        names_width / style.WIDTH, footer / height, wide / style.WIDTH,
        _CELL * len(table) / height,
    ))  # fmt: skip
    axes.set_xlim(0, across)
    axes.set_ylim(len(table), 0)
    colour, scale = colormaps[_MAP], Normalize(*bounds)
    for y, (model, row) in enumerate(table.items()):
        cells = [(left[name], row.get(name)) for name in (*names, *extras)]
        for at, value in [*cells, (mean_at, _mean(row) if _all_15(row) else None)]:
            if value is None:
                continue
            width = 1.15 if at == mean_at else 1
            shade = colour(0.04 + 0.82 * scale(value))
            axes.add_patch(Rectangle((at, y), width, 1, facecolor=shade, edgecolor="none"))
            dark = np.dot(shade[:3], (0.299, 0.587, 0.114)) < 0.52
            axes.text(
                at + width / 2, y + 0.54, f"{value:.0f}" if width == 1 else f"{value:.1f}",
                ha="center", va="center", color="#ffffff" if dark else "#1b1b1b", fontsize=10,
                fontweight="bold" if width > 1 else "normal",
            )  # fmt: skip
        label = axes.text(
            -0.12, y + 0.54, style.short(model), ha="right", va="center", fontsize=10.5
        )
        mark(label, model, model)
    for name, at in left.items():
        axes.text(at + 0.42, -0.25, style.plain_name(name), rotation=38, rotation_mode="anchor",
                  ha="left", va="bottom", fontsize=10.5)  # fmt: skip
    if means:
        axes.text(mean_at + 0.45, -0.25, "mean of 15", rotation=38, rotation_mode="anchor",
                  ha="left", va="bottom", fontsize=10.5, fontweight="bold")  # fmt: skip
    for at, kind in heads:
        axes.text(at, len(table) + 0.25, kind, va="top", fontsize=10.5, color=style.MUTED)
    said = "corruption error, % of AlexNet's; less is better"
    if total > len(table):
        said += f"; {len(table)} of {total:,} models"
    right = max(0.5, (names_width + wide) / style.WIDTH)
    figure.text(right, 6 / height, said, ha="right", color=style.MUTED, fontsize=10.5)
    axes.set_axis_off()
    return figure
