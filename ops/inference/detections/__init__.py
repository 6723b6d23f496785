"""Detections: boxes that a detector found in sealed frame sets, stored as rows.

Here belong the stored form, files in COCO's format on the way in and out, and detectors of
torchvision. What the rows mean as a metric is :mod:`ops.metrics.detection`.
"""

from typing import TYPE_CHECKING, Any

from ops.inference.detections.coco_import import import_results
from ops.inference.detections.coco_truth import CocoTruth, read_truth, truth_of
from ops.inference.detections.ground_truth import write_ground_truth
from ops.inference.detections.record import (
    DetectionsRecord,
    current_detections,
    find_detections,
    list_detections,
)
from ops.inference.detections.schema import DETECTIONS, FRAMES
from ops.inference.detections.store import read_boxes, read_frames

if TYPE_CHECKING:
    from ops.inference.detections.detector import Detector
    from ops.inference.detections.running import run_detector

__all__ = [
    "DETECTIONS",
    "FRAMES",
    "CocoTruth",
    "DetectionsRecord",
    "Detector",
    "current_detections",
    "find_detections",
    "import_results",
    "list_detections",
    "read_boxes",
    "read_frames",
    "read_truth",
    "run_detector",
    "truth_of",
    "write_ground_truth",
]


def __getattr__(name: str) -> Any:
    # torch is needed to detect, not to read what was detected.
    if name == "run_detector":
        from ops.inference.detections.running import run_detector

        return run_detector
    if name == "Detector":
        from ops.inference.detections.detector import Detector

        return Detector
    raise AttributeError(name)
