"""The figures, one file each: a query, and a matplotlib Figure drawn from its answer.

Every function takes a connection of :func:`ops.results.connect` and gives None where there is
nothing to draw. :func:`ops.report.as_svg` and :func:`ops.report.as_png_data_uri` write them out.
"""

from ops.report.figures.confidence import figure_confidence
from ops.report.figures.flips import figure_flips
from ops.report.figures.heat_map import figure_heat_map
from ops.report.figures.ladder import figure_ladder
from ops.report.figures.reliability import figure_reliability
from ops.report.figures.severities import figure_severities
from ops.report.figures.shift import figure_shifts
from ops.report.figures.video import figure_pm_k
from ops.report.figures.video_offsets import figure_offsets
from ops.report.figures.video_scatter import figure_pm_k_scatter

__all__ = [
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
]
