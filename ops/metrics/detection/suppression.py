"""Suppress detections that overlap a surer one, whatever their classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.boxes import Detections, overlap

# Pairs whose overlap is worked out at once.
_PAIRS = 1 << 20


def suppressed(detections: Detections, least_overlap: float = 0.5) -> Detections:
    """Detections without those that a surer one of their frame covers.

    Class-agnostic non-maximum suppression: many detectors suppress within a class alone, and
    then report one object once for every class they waver between.

    Parameters
    ----------
    detections : Detections
    least_overlap : float
        A box goes if its intersection over union with a kept one is larger.

    Returns
    -------
    Detections
        In the order they had. Of equal scores the one that stands first is kept.
    """
    order = np.lexsort((-detections.score, detections.frame))
    frame, box = detections.frame[order], detections.box[order]
    places = np.arange(order.size)
    first = np.maximum.accumulate(np.where(np.diff(frame, prepend=-1) != 0, places, 0))
    end = np.searchsorted(frame, frame, "right")
    turn = places - first
    gone = np.zeros(order.size, bool)
    by_turn = np.argsort(turn, kind="stable")
    ends = (np.flatnonzero(np.diff(turn[by_turn], append=-1)) + 1).tolist()
    start = 0
    for stop in ends:
        # One box a frame: whether it stays is known by now.
        surer = by_turn[start:stop]
        start = stop
        surer = surer[~gone[surer] & (end[surer] > surer + 1)]
        for some in _parts(surer, end):
            gone[_covered(some, end, box, least_overlap)] = True
    kept = np.empty(order.size, bool)
    kept[order] = ~gone
    return detections.only(kept)


def _parts(surer: NDArray[np.intp], end: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The boxes in parts of a bounded number of pairs."""
    pairs = np.cumsum(end[surer] - surer - 1)
    return np.split(surer, np.flatnonzero(np.diff(pairs // _PAIRS)) + 1)


def _covered(
    surer: NDArray[np.intp],
    end: NDArray[np.intp],
    box: NDArray[np.float64],
    least_overlap: float,
) -> NDArray[np.intp]:
    """Boxes that rank behind one of `surer` in its frame and overlap it too much."""
    times = end[surer] - surer - 1
    by = np.repeat(surer, times)
    within = np.arange(by.size) - np.repeat(np.cumsum(times) - times, times)
    behind = by + 1 + within
    return np.asarray(behind[overlap(box[by], box[behind]) > least_overlap])
