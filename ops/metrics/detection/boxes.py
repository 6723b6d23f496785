"""Boxes of many frames in flat arrays, and how far two boxes overlap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError

# Beyond this an area loses the pixel it is made of, and far beyond it overflows.
FARTHEST = 1e7


@dataclass(frozen=True)
class Truth:
    """What is really there: N boxes of any number of frames.

    Attributes
    ----------
    frame : ndarray of int64, shape (N,)
        Position of the box's frame among all frames, from 0.
    label : ndarray of int64, shape (N,)
        Class of the box, 0 or more.
    box : ndarray of float64, shape (N, 4)
        xmin, ymin, xmax, ymax in continuous coordinates: pixels of the picture as displayed.
    """

    frame: NDArray[np.int64]
    label: NDArray[np.int64]
    box: NDArray[np.float64]

    def __post_init__(self) -> None:
        _require_boxes(self.frame, self.label, self.box)


@dataclass(frozen=True)
class Detections:
    """What a detector found: M boxes, each with a score.

    Attributes
    ----------
    frame, label, box : ndarray
        As in :class:`Truth`.
    score : ndarray of float64, shape (M,)
        Higher means surer. Boxes of one frame and class with equal scores rank as they stand.
    """

    frame: NDArray[np.int64]
    label: NDArray[np.int64]
    box: NDArray[np.float64]
    score: NDArray[np.float64]

    def __post_init__(self) -> None:
        _require_boxes(self.frame, self.label, self.box)
        if self.score.shape != self.frame.shape or not np.isfinite(self.score).all():
            raise _refused(f"{len(self.frame):,} finite scores", _scores_text(self.score))

    def only(self, kept: NDArray[np.bool_]) -> Detections:
        """Those of which `kept`, shape (M,), is true."""
        return Detections(self.frame[kept], self.label[kept], self.box[kept], self.score[kept])


def merged_labels(truth: Truth, detections: Detections) -> tuple[Truth, Detections]:
    """Both with one class for all boxes: the localisation variant."""
    return (
        replace(truth, label=np.zeros_like(truth.label)),
        replace(detections, label=np.zeros_like(detections.label)),
    )


def overlap(
    found: NDArray[np.float64], there: NDArray[np.float64], *, pixel: float = 0.0
) -> NDArray[np.float64]:
    """Intersection over union, pair by pair.

    Parameters
    ----------
    found, there : ndarray of float64, shape (P, 4)
        xmin, ymin, xmax, ymax.
    pixel : float
        Added to every width and height: 0 for continuous coordinates, 1 where the last pixel of a
        box is named rather than its edge.

    Returns
    -------
    ndarray of float64, shape (P,)
        In [0, 1]; 0 where the two do not overlap, boxes of no area included.

    Notes
    -----
    A right edge is the left one and the width again, as it is for whoever is given a box as
    x, y, width and height: the result then has the very bits of pycocotools' ``maskUtils.iou``.
    """
    (fw, fh, fx, fy), (tw, th, tx, ty) = (_sides(box, pixel) for box in (found, there))
    width = np.minimum(fx, tx) - np.maximum(found[:, 0], there[:, 0])
    height = np.minimum(fy, ty) - np.maximum(found[:, 1], there[:, 1])
    both = np.where((width > 0) & (height > 0), width * height, 0.0)
    union = fw * fh + tw * th - both
    return np.divide(both, union, out=np.zeros_like(both), where=both > 0)


def _sides(box: NDArray[np.float64], pixel: float) -> tuple[NDArray[np.float64], ...]:
    width, height = box[:, 2] - box[:, 0] + pixel, box[:, 3] - box[:, 1] + pixel
    return width, height, box[:, 0] + width, box[:, 1] + height


def _require_boxes(
    frame: NDArray[np.int64], label: NDArray[np.int64], box: NDArray[np.float64]
) -> None:
    count = frame.size
    if label.shape != (count,) or box.shape != (count, 4):
        raise _refused(
            f"{count:,} labels and as many boxes of 4 numbers",
            f"shapes {label.shape} and {box.shape}",
        )
    if count and (frame.min() < 0 or label.min() < 0):
        raise _refused("frames and labels from 0 on", f"{min(frame.min(), label.min())}")
    # Also false where a number is NaN.
    near = (np.abs(box) <= FARTHEST).all(axis=1)
    ordered = (box[:, 2] >= box[:, 0]) & (box[:, 3] >= box[:, 1])
    bad = np.flatnonzero(~(near & ordered))
    if bad.size:
        raise _refused(
            f"xmin <= xmax and ymin <= ymax, within {FARTHEST:g} pixels",
            f"{box[bad[0]].tolist()} as box {bad[0]:,}, and {bad.size - 1:,} more",
        )


def _scores_text(score: NDArray[np.float64]) -> str:
    bad = np.flatnonzero(~np.isfinite(score))
    return f"{score[bad[0]]} as score {bad[0]:,}" if bad.size else f"{score.size:,} scores"


def _refused(expected: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "These boxes cannot be scored.",
        expected=expected,
        found=found,
        where="boxes",
        remedy="check the table or file that they came from",
    )
