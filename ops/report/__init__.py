"""Reports: what a person reads about datasets and results. Numbers come from sealed files alone."""

from ops.report.cast import Cast, cast_of
from ops.report.figures import (
    figure_confidence,
    figure_flips,
    figure_heat_map,
    figure_ladder,
    figure_offsets,
    figure_pm_k,
    figure_pm_k_scatter,
    figure_reliability,
    figure_severities,
    figure_shifts,
)
from ops.report.flicker_strip import flicker_gallery_strip
from ops.report.parity import parity_report
from ops.report.sheets import corruption_sheet, sequence_sheet, severity_sheet
from ops.report.svg import as_png_data_uri, as_svg
from ops.report.write import write_report

__all__ = [
    "Cast",
    "as_png_data_uri",
    "as_svg",
    "cast_of",
    "corruption_sheet",
    "figure_confidence",
    "figure_flips",
    "figure_heat_map",
    "figure_ladder",
    "figure_offsets",
    "figure_pm_k",
    "figure_pm_k_scatter",
    "figure_reliability",
    "figure_severities",
    "figure_shifts",
    "flicker_gallery_strip",
    "parity_report",
    "sequence_sheet",
    "severity_sheet",
    "write_report",
]
