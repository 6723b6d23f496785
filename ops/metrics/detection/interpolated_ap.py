"""Average precision of many groups of detections at once, interpolated as its rule says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.rules import Interpolation

_POINTS = {"101-point": np.linspace(0.0, 1.0, 101), "11-point": np.linspace(0.0, 1.0, 11)}


def average_precisions(
    group: NDArray[np.int64],
    hit: NDArray[np.bool_],
    n_truth: NDArray[np.int64],
    interpolation: Interpolation = "101-point",
) -> NDArray[np.float64]:
    """Average precision of every group.

    Parameters
    ----------
    group : ndarray of int64, shape (M,)
        Ascending, in [0, G): the class of a detection, or its frame and class.
    hit : ndarray of bool, shape (M,)
        Whether it found a true box; within a group by descending score.
    n_truth : ndarray of int64, shape (G,)
        True boxes of every group.
    interpolation : {"101-point", "11-point", "all-point"}

    Returns
    -------
    ndarray of float64, shape (G,)
        In [0, 1]; NaN for a group without a true box. ``sum_r max(precision at recalls >= r)`` over
        the recalls r of the rule, divided by their number (Lin et al., arXiv:1405.0312, and its
        evaluation code); for all points the area below the same curve.
    """
    hits = np.flatnonzero(hit)
    own = group[hits]
    rank = hits - np.searchsorted(group, own, "left") + 1
    nth = np.arange(own.size) - np.searchsorted(own, own, "left") + 1
    best = _best_from_here(nth / rank, own)
    area = best * recall_share(nth, n_truth[own], interpolation)
    total = np.bincount(own, weights=area, minlength=n_truth.size)
    return np.where(n_truth > 0, total, np.nan)


def recall_share(
    nth: NDArray[np.integer], n_truth: NDArray[np.integer], interpolation: Interpolation
) -> NDArray[np.float64]:
    """Share of the recalls that the `nth` hit of `n_truth` is the first to reach."""
    if interpolation == "all-point":
        return 1 / n_truth
    before = np.where(nth > 1, recalls_reached((nth - 1) / n_truth, interpolation), 0)
    reached = recalls_reached(nth / n_truth, interpolation) - before
    return np.asarray(reached / _POINTS[interpolation].size)


def recalls_reached(
    recall: NDArray[np.float64], interpolation: Interpolation
) -> NDArray[np.integer]:
    """Of the recalls of a rule, how many are no larger than `recall`."""
    return np.searchsorted(_POINTS[interpolation], recall, "right")


def _best_from_here(
    precision: NDArray[np.float64], group: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Largest precision at this hit and all later ones of its group."""
    values, place = np.unique(precision, return_inverse=True)
    # Whole numbers, so that a group's own values never reach those of an earlier group.
    above = (group.max(initial=0) - group) * values.size
    ahead = np.maximum.accumulate((place + above)[::-1])[::-1]
    return np.asarray(values[ahead - above]) if values.size else precision
