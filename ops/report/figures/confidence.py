"""How sure a model is of images of classes it does not know: ImageNet-O beside clean images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ops.metrics import confidence_histogram
from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.figure import Figure

BINS = 25
_OUTSIDE = """
    SELECT p_max_masked AS p FROM predictions
    WHERE model = $model AND benchmark = 'imagenet_o' AND p_max_masked IS NOT NULL ORDER BY p
"""
_INSIDE = """
    SELECT list_filter(p.masks, lambda m: m.mask = 'imagenet_o')[1].p_max AS p
    FROM predictions AS p
    JOIN class_lists AS c ON c.list = 'imagenet_o' AND c.class_index = p.labels[1]
    WHERE p.model = $model AND p.benchmark = 'imagenet_1k' AND p.condition = 'val'
        AND p IS NOT NULL
    ORDER BY p
"""


def figure_confidence(
    connection: duckdb.DuckDBPyConnection, models: Cast | None = None
) -> Figure | None:
    """Histograms of the largest probability over ImageNet-O's 200 classes, a panel a model.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        The models to draw: those in colour.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where no such model was run on ImageNet-O and on the validation set. The line is
        ImageNet-O, whose objects are of none of the classes; grey are the validation images of
        those 200 classes. The less they overlap, the better the AUPR, given with that of chance.
    """
    models = models or cast_of(connection)
    found = {}
    for model in models.chosen:
        sides = [
            np.asarray(connection.execute(sql, {"model": model}).fetchnumpy()["p"], np.float64)
            for sql in (_OUTSIDE, _INSIDE)
        ]
        if all(len(side) for side in sides):
            found[model] = sides
    if not found:
        return None
    with style.paper():
        return _figure(found, models, _aupr(connection))


def _aupr(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], float]:
    rows = connection.execute(
        """
        SELECT model, CASE variant WHEN 'chance' THEN 'chance' ELSE 'aupr' END, value FROM metrics
        WHERE benchmark = 'imagenet_o' AND metric = 'aupr' AND value IS NOT NULL
            AND variant IN ('chance', 'max softmax', 'step-wise')
        ORDER BY ALL
        """
    ).fetchall()
    return {(model, name): value for model, name, value in rows}


def _figure(found: dict[str, Any], models: Cast, aupr: dict[tuple[str, str], float]) -> Figure:
    across = max(2, min(4, len(found)))
    down = -(-len(found) // across)
    panel, tall = (style.WIDTH - 30) // 4 - 34, 150
    width, height = 50 + across * (panel + 34), down * (tall + 92)
    figure = style.new_figure("confidence", height, width)
    edges = np.linspace(0, 1, BINS + 1)
    shares = {
        model: [confidence_histogram(side, BINS) / len(side) for side in sides]
        for model, sides in found.items()
    }
    top = 1.08 * max(float(side.max()) for sides in shares.values() for side in sides)
    for i, (model, (outside, inside)) in enumerate(shares.items()):
        left, above = 50 + (i % across) * (panel + 34), (i // across) * (tall + 92) + 40
        axes = figure.add_axes(
            (left / width, 1 - (above + tall) / height, panel / width, tall / height)
        )
        style.percent_axis(axes.xaxis)
        style.percent_axis(axes.yaxis, 20 if top > 0.5 else 10)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, top)
        colour = models.colour(model)
        axes.stairs(inside, edges, fill=True, color=style.CROWD, alpha=0.55, linewidth=0)
        line = axes.stairs(outside, edges, color=colour, linewidth=1.8)
        mark(line, model, f"{model} on ImageNet-O")
        axes.text(0, 1.2, style.short(model, 30), transform=axes.transAxes, fontweight="bold",
                  color=colour, fontsize=11.5)  # fmt: skip
        said = ""
        if (model, "aupr") in aupr:
            said = f"AUPR {100 * aupr[model, 'aupr']:.1f} %"
            if (model, "chance") in aupr:
                said += f"   chance {100 * aupr[model, 'chance']:.1f} %"
        axes.text(0, 1.07, said, transform=axes.transAxes, color=style.MUTED, fontsize=10)
        axes.set_xlabel("largest probability, %")
        if i % across == 0:
            axes.set_ylabel("images, %")
        if i == 0:
            axes.text(0.03, 0.93, "ImageNet-O", color=colour, transform=axes.transAxes, va="top")
            axes.text(0.03, 0.81, "clean", color=style.MUTED, transform=axes.transAxes, va="top")
    return figure
