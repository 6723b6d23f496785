"""The reliability diagram: how often a model is right when it says how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ops.metrics import clopper_pearson
from ops.report import style
from ops.report.cast import Cast, cast_of
from ops.report.svg import mark

if TYPE_CHECKING:
    import duckdb
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of the RMS calibration error (Hendrycks et al.): images in a bin, the rest in the last.
BIN = 100
# Bins of equal size for the line, wide enough that their interval says something.
COARSE = 12


def figure_reliability(
    connection: duckdb.DuckDBPyConnection,
    models: Cast | None = None,
    *,
    dataset: str = "imagenet_1k/val",
) -> Figure | None:
    """Accuracy against confidence, a panel a model.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    models : Cast, optional
        The models to draw: those in colour.
    dataset : str

    Returns
    -------
    matplotlib.figure.Figure or None
        None where no such model was run on it. Dots are bins of 100 images of rising confidence,
        as the RMS calibration error has them; the line has 12 bins of equal size with exact 95 %
        intervals. Above the diagonal the model is right more often than it says.
    """
    models = models or cast_of(connection)
    found = {model: _answers(connection, model, dataset) for model in models.chosen}
    found = {model: answers for model, answers in found.items() if len(answers[0])}
    if not found:
        return None
    with style.paper():
        return _figure(connection, found, models, dataset)


def _answers(connection: duckdb.DuckDBPyConnection, model: str, dataset: str) -> tuple[Any, Any]:
    benchmark, _, condition = dataset.partition("/")
    found = connection.execute(
        """
        SELECT p_max, correct FROM predictions
        WHERE model = $model AND benchmark = $benchmark AND condition = $condition
            AND p_max IS NOT NULL AND correct IS NOT NULL
        ORDER BY p_max, sample_key
        """,
        {"model": model, "benchmark": benchmark, "condition": condition},
    ).fetchnumpy()
    return np.asarray(found["p_max"], np.float64), np.asarray(found["correct"], bool)


def _figure(
    connection: duckdb.DuckDBPyConnection, found: dict[str, Any], models: Cast, dataset: str
) -> Figure:
    across = max(2, min(4, len(found)))
    down = -(-len(found) // across)
    panel = (style.WIDTH - 30) // 4 - 34
    width, height = 50 + across * (panel + 34), down * (panel + 92)
    figure = style.new_figure(f"reliability {dataset}", height, width)
    for i, (model, (confidence, correct)) in enumerate(found.items()):
        left, top = 50 + (i % across) * (panel + 34), (i // across) * (panel + 92) + 40
        axes = figure.add_axes(
            (left / width, 1 - (top + panel) / height, panel / width, panel / height)
        )
        _panel(axes, confidence, correct, model, models)
        axes.text(0, 1.11, style.short(model, 30), transform=axes.transAxes, fontweight="bold",
                  color=models.colour(model), fontsize=11.5)  # fmt: skip
        axes.text(0, 1.03, _errors(connection, model, dataset), transform=axes.transAxes,
                  color=style.MUTED, fontsize=10)  # fmt: skip
        if i % across == 0:
            axes.set_ylabel("right, %")
        axes.set_xlabel("confidence, %")
    return figure


def _panel(axes: Axes, confidence: Any, correct: Any, model: str, models: Cast) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        style.percent_axis(axis)
    axes.set_xlim(0, 1.0)
    axes.set_ylim(0, 1.0)
    axes.plot([0, 1], [0, 1], color=style.MUTED, dashes=(4, 3), linewidth=1)
    colour = models.colour(model)
    bins = max(1, len(confidence) // BIN)
    fine = [slice(BIN * i, BIN * (i + 1) if i < bins - 1 else None) for i in range(bins)]
    axes.plot(
        [confidence[part].mean() for part in fine], [correct[part].mean() for part in fine],
        linestyle="", marker="o", markersize=3, color=colour, alpha=0.3, markeredgewidth=0,
        clip_on=False,
    )  # fmt: skip
    coarse = [part for part in np.array_split(np.arange(len(confidence)), COARSE) if len(part)]
    n = np.array([len(part) for part in coarse])
    k = np.array([correct[part].sum() for part in coarse])
    lo, hi = clopper_pearson(k, n)
    x = np.array([confidence[part].mean() for part in coarse])
    axes.fill_between(x, lo, hi, color=colour, alpha=0.16, linewidth=0)
    (line,) = axes.plot(x, k / n, color=colour, linewidth=1.8, clip_on=False)
    mark(line, model, f"{model}, {COARSE} bins of equal size")


def _errors(connection: duckdb.DuckDBPyConnection, model: str, dataset: str) -> str:
    """The calibration errors of the table of metrics, and n."""
    benchmark, _, condition = dataset.partition("/")
    found = dict(
        connection.execute(
            """
            SELECT metric, value FROM metrics
            WHERE model = $model AND benchmark = $benchmark AND condition = $condition
                AND variant = 'unmasked' AND metric IN ('rms_calib', 'ece') AND value IS NOT NULL
            """,
            {"model": model, "benchmark": benchmark, "condition": condition},
        ).fetchall()
    )
    names = {"rms_calib": "RMS", "ece": "ECE"}
    said = [f"{names[m]} {100 * found[m]:.1f} %" for m in names if m in found]
    return "   ".join(said)
