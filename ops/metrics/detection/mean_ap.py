"""Mean average precision over a list of frames, one from each set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.interpolated_ap import average_precisions, recalls_reached
from ops.metrics.detection.matching import Matched
from ops.metrics.detection.rules import Interpolation

# Numbers held at once of a class: resamples times detections.
_HELD = 1 << 21


@dataclass(frozen=True)
class Ranking:
    """Detections of chosen frames, by class and descending score, and the true boxes there.

    Attributes
    ----------
    label : ndarray of int64, shape (M,)
        Ascending.
    hit : ndarray of bool, shape (M,)
    set : ndarray of int64, shape (M,)
        From which set, or place in the list, a detection comes.
    truth : ndarray of int64, shape (L, S)
        True boxes of every class in every chosen frame.
    """

    label: NDArray[np.int64]
    hit: NDArray[np.bool_]
    set: NDArray[np.int64]
    truth: NDArray[np.int64]


def ranking_of(matched: Matched, chosen: NDArray[np.int64], n_frames: int) -> Ranking:
    """Rank what was found in some frames, class by class.

    Parameters
    ----------
    matched : Matched
    chosen : ndarray of int64, shape (S,)
        Different frames, in the order in which equal scores rank.
    n_frames : int
    """
    place = np.full(n_frames, -1, np.int64)
    place[chosen] = np.arange(chosen.size)
    own = place[matched.frame]
    some = np.flatnonzero(own >= 0)
    label, score = matched.label[some], matched.score[some]
    order = np.lexsort((own[some], -score, label))
    some = some[order]
    truth = place[matched.truth_frame]
    cell = matched.truth_label[truth >= 0] * chosen.size + truth[truth >= 0]
    counted = np.bincount(cell, minlength=matched.n_labels * chosen.size)
    return Ranking(
        label=matched.label[some],
        hit=matched.hit[some],
        set=own[some],
        truth=counted.reshape(matched.n_labels, chosen.size),
    )


def mean_average_precision(ranking: Ranking, interpolation: Interpolation = "101-point") -> float:
    """Mean over the classes that have a true box in the chosen frames; NaN where none has.

    Equal to ``COCOeval``'s mean over ``precision`` at IoU 0.5, all areas, for the default.
    """
    values = average_precisions(
        ranking.label, ranking.hit, ranking.truth.sum(axis=1), interpolation
    )
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")


def resampled_mean_ap(
    ranking: Ranking,
    times: NDArray[np.integer],
    interpolation: Interpolation = "101-point",
) -> NDArray[np.float64]:
    """Mean average precision of many resamples of the sets, without matching anything again.

    Parameters
    ----------
    ranking : Ranking
    times : ndarray of int, shape (B, S)
        How often each set is drawn.
    interpolation : {"101-point", "11-point", "all-point"}

    Returns
    -------
    ndarray of float64, shape (B,)
        A set that is drawn twice counts as two frames with equal scores; classes of which a
        resample holds no true box are left out of its mean. NaN where it holds none at all.
    """
    # Whole numbers far below 2**24: exact, and half the memory traffic.
    drawn = np.ascontiguousarray(times.T, np.float32)
    n_truth = (ranking.truth.astype(np.float32) @ drawn).astype(np.int64)
    bounds = np.searchsorted(ranking.label, np.arange(len(n_truth) + 1))
    total, classes = np.zeros(len(times)), np.zeros(len(times), np.int64)
    for label in np.flatnonzero(ranking.truth.any(axis=1)):
        there = n_truth[label] > 0
        classes += there
        own = slice(bounds[label], bounds[label + 1])
        step = max(1, _HELD // max(1, bounds[label + 1] - bounds[label]))
        for start in range(0, len(times), step):
            some = slice(start, start + step)
            value = _resampled(
                drawn[:, some],
                ranking.set[own],
                ranking.hit[own],
                n_truth[label, some],
                interpolation,
            )
            total[some] += np.where(there[some], value, 0.0)
    mean = np.full(len(times), np.nan)
    np.divide(total, classes, out=mean, where=classes > 0)
    return mean


def _resampled(
    drawn: NDArray[np.float32],
    own: NDArray[np.int64],
    hit: NDArray[np.bool_],
    n_truth: NDArray[np.int64],
    interpolation: Interpolation,
) -> NDArray[np.float64]:
    """Average precision of one class in some resamples, shape (b,)."""
    weight = drawn[own]
    ranked = np.cumsum(weight, axis=0)[hit]
    found = np.cumsum(weight[hit], axis=0)
    # Copies of one hit that follow each other only raise precision: the last of them decides.
    precision = np.divide(found, ranked, out=np.zeros(found.shape), where=ranked > 0)
    best = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
    recall = found.astype(np.float64) / np.maximum(n_truth, 1)
    if interpolation == "all-point":
        return np.asarray((best * np.diff(recall, axis=0, prepend=0)).sum(axis=0))
    reached = recalls_reached(recall, interpolation) * (found > 0)
    points = recalls_reached(np.ones(1), interpolation)[0]
    return np.asarray((best * np.diff(reached, axis=0, prepend=0)).sum(axis=0) / points)
