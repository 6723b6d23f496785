"""Which detections find a true box: by frame and class, the surest first, each true box once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.boxes import Detections, Truth, overlap
from ops.metrics.detection.rules import COCO, Rule

# Pairs of boxes whose overlap is worked out at once: bounds memory at about 200 MB.
_PAIRS = 1 << 20


@dataclass(frozen=True)
class Matched:
    """Detections that count, each with whether it found a true box, and all true boxes.

    Detections are sorted by frame, then class, then descending score.

    Attributes
    ----------
    frame, label : ndarray of int64, shape (M,)
    score : ndarray of float64, shape (M,)
    hit : ndarray of bool, shape (M,)
    truth_frame, truth_label : ndarray of int64, shape (N,)
        Of every true box, sorted likewise.
    n_labels : int
        One more than the largest label.
    """

    frame: NDArray[np.int64]
    label: NDArray[np.int64]
    score: NDArray[np.float64]
    hit: NDArray[np.bool_]
    truth_frame: NDArray[np.int64]
    truth_label: NDArray[np.int64]
    n_labels: int


def match(truth: Truth, detections: Detections, rule: Rule = COCO) -> Matched:
    """Match detections to true boxes, once and for all frames.

    Parameters
    ----------
    truth : Truth
    detections : Detections
    rule : Rule

    Returns
    -------
    Matched

    Notes
    -----
    Within a frame and class detections take their turn by descending score, and of equal scores as
    they stand. Each takes the free true box it overlaps most, if it overlaps it enough. With the
    rule `COCO` every choice is that of ``pycocotools.cocoeval`` at IoU 0.5, all areas, no crowds.
    """
    n_labels = 1 + max(int(part.label.max(initial=-1)) for part in (truth, detections))
    order, group, turn = _ranked(detections, n_labels)
    if rule.at_most is not None:
        kept = turn < rule.at_most
        order, group, turn = order[kept], group[kept], turn[kept]
    truth_group = truth.frame * n_labels + truth.label
    truth_order = np.argsort(truth_group, kind="stable")
    truth_group = truth_group[truth_order]
    found, there, size = _candidates(
        detections.box[order], group, truth.box[truth_order], truth_group, rule
    )
    # The best candidate of a detection stands last among its own.
    position = there if rule.last_of_equal else -there
    best_last = np.lexsort((position, size, found, turn[found]))
    found, there = found[best_last], there[best_last]
    hit = np.zeros(order.size, bool)
    free = np.ones(truth_group.size, bool)
    # One detection of every frame and class at a time: these cannot be in each other's way.
    ends = (np.flatnonzero(np.diff(turn[found], append=-1)) + 1).tolist()
    start = 0
    for end in ends:
        open_ = free[there[start:end]]
        some, boxes = found[start:end][open_], there[start:end][open_]
        last = np.diff(some, append=-1) != 0
        hit[some[last]] = True
        free[boxes[last]] = False
        start = end
    return Matched(
        frame=detections.frame[order],
        label=detections.label[order],
        score=detections.score[order],
        hit=hit,
        truth_frame=truth_group // max(n_labels, 1),
        truth_label=truth_group % max(n_labels, 1),
        n_labels=n_labels,
    )


def _ranked(
    detections: Detections, n_labels: int
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Order by frame, class and descending score; each one's group, and its turn in it from 0."""
    group = detections.frame * n_labels + detections.label
    order = np.lexsort((-detections.score, group))
    group = group[order]
    places = np.arange(group.size)
    first = np.diff(group, prepend=-1) != 0
    turn = places - np.maximum.accumulate(np.where(first, places, 0))
    return order, group, turn


def _candidates(
    box: NDArray[np.float64],
    group: NDArray[np.int64],
    truth_box: NDArray[np.float64],
    truth_group: NDArray[np.int64],
    rule: Rule,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of detection and true box that overlap enough, and by how much."""
    least = _least_overlap(truth_box, rule)
    first = np.searchsorted(truth_group, group, "left")
    count = np.searchsorted(truth_group, group, "right") - first
    with_truth = np.flatnonzero(count)
    first, count = first[with_truth], count[with_truth]
    pairs = np.cumsum(count)
    kept: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    start = 0
    while start < count.size:
        before = pairs[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(pairs, before + _PAIRS, "right")))
        times = count[start:end]
        found = np.repeat(with_truth[start:end], times)
        within = np.arange(found.size) - np.repeat(pairs[start:end] - before - times, times)
        there = np.repeat(first[start:end], times) + within
        size = overlap(box[found], truth_box[there], pixel=rule.pixel)
        enough = size >= least[there]
        kept.append((found[enough], there[enough], size[enough]))
        start = end
    if not kept:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    found, there, size = (np.concatenate(part) for part in zip(*kept, strict=True))
    return found, there, size


def _least_overlap(box: NDArray[np.float64], rule: Rule) -> NDArray[np.float64]:
    if not rule.small_objects:
        return np.full(len(box), rule.least_overlap)
    width, height = box[:, 2] - box[:, 0] + rule.pixel, box[:, 3] - box[:, 1] + rule.pixel
    return np.minimum(rule.least_overlap, width * height / ((width + 10) * (height + 10)))
