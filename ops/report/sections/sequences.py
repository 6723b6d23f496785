"""Sequences: whether a prediction survives a small change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Plot, Section
from ops.report.figures.flips import figure_flips
from ops.report.names import benchmark_name
from ops.report.svg import as_svg
from ops.results.families import PERTURBED

if TYPE_CHECKING:
    import duckdb


def sequences(connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast) -> Section:
    """Flip probabilities of ImageNet-P."""
    section = Section(
        "sequences",
        "Sequences",
        "The same image, changed a little from frame to frame: a prediction should not change.",
        missing="ImageNet-P is not evaluated",
        short="Sequences",
    )
    for benchmark in PERTURBED:
        figure = figure_flips(connection, benchmark, models)
        if figure is not None:
            caption = (
                f"{benchmark_name(catalog, benchmark)}: share of frames whose prediction is not "
                "that of the frame before (for the noises: of the first, clean frame). Intervals "
                "resample source images."
            )
            section.blocks.append(Plot(as_svg(figure), caption))
    return section
