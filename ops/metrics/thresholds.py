"""True and false positives at every distinct score: the ground of AUPR, AUROC and FPR."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError


def counts_at_thresholds(
    positive: NDArray[np.bool_], score: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count positives and negatives scoring at least each distinct score.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    score : ndarray of float, shape (N,)
        Higher means more likely positive. Equal scores form one threshold. Infinite is allowed.

    Returns
    -------
    tp, fp : ndarray of float64, shape (T,)
        At the T distinct scores, from the highest down; the last entries are the totals.

    Raises
    ------
    ShiftlakeError
        If a score is NaN, the shapes differ, or one of the two sides is empty.
    """
    positive, score = check_scores(positive, score)
    order = np.argsort(-score, kind="stable")
    ends = group_ends(score[order])
    tp = np.cumsum(positive[order], dtype=np.float64)[ends]
    return tp, (ends + 1.0) - tp


def group_ends(falling: NDArray[np.floating]) -> NDArray[np.intp]:
    """Last position of every run of equal values in a sorted array."""
    return np.append(np.flatnonzero(falling[1:] != falling[:-1]), falling.size - 1)


def check_scores(
    positive: NDArray[np.bool_], score: NDArray[np.floating]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Both arrays, typed; raises ShiftlakeError where a curve is not defined for them."""
    positive, typed = np.asarray(positive, bool), np.asarray(score, np.float64)
    found = f"{positive.sum()} positives, {(~positive).sum()} negatives, {typed.size} scores"
    nans = int(np.isnan(typed).sum())
    if positive.shape != typed.shape or positive.all() or not positive.any() or nans:
        raise ShiftlakeError(
            "A detection metric is not defined for these scores.",
            expected="one score an image, none NaN, at least one positive and one negative",
            found=found + (f", {nans} of them NaN" if nans else ""),
            where="detection metrics",
            remedy="evaluate both the benchmark and the clean validation images of its classes",
        )
    return positive, typed
