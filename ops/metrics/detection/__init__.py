"""Detection on frame sets: average precision by frame and over frames, and pm-k of it.

What belongs here: formulas over arrays of boxes. What does not: tables, files and detectors.
"""

from ops.metrics.detection.boxes import Detections, Truth, merged_labels, overlap
from ops.metrics.detection.frame_ap import frame_average_precision
from ops.metrics.detection.interpolated_ap import average_precisions
from ops.metrics.detection.matching import Matched, match
from ops.metrics.detection.mean_ap import (
    Ranking,
    mean_average_precision,
    ranking_of,
    resampled_mean_ap,
)
from ops.metrics.detection.paired_intervals import Intervals, draws_of_sets, paired_intervals
from ops.metrics.detection.pm_k_map import PmKMap, pm_k_map
from ops.metrics.detection.rules import ALL_POINT, COCO, ELEVEN_POINT, ILSVRC_VID, RULES, Rule
from ops.metrics.detection.suppression import suppressed
from ops.metrics.detection.worst_frame import SetFrames, worst_frames

__all__ = [
    "ALL_POINT",
    "COCO",
    "ELEVEN_POINT",
    "ILSVRC_VID",
    "RULES",
    "Detections",
    "Intervals",
    "Matched",
    "PmKMap",
    "Ranking",
    "Rule",
    "SetFrames",
    "Truth",
    "average_precisions",
    "draws_of_sets",
    "frame_average_precision",
    "match",
    "mean_average_precision",
    "merged_labels",
    "overlap",
    "paired_intervals",
    "pm_k_map",
    "ranking_of",
    "resampled_mean_ap",
    "suppressed",
    "worst_frames",
]
