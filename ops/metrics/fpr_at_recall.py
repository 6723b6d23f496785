"""False positive rate at a fixed recall (FPR95)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.thresholds import counts_at_thresholds


def fpr_at_recall(
    positive: NDArray[np.bool_], score: NDArray[np.floating], recall: float = 0.95
) -> float:
    """Share of negatives at or above the highest threshold that finds `recall` of the positives.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    score : ndarray of float, shape (N,)
        Higher means more likely positive.
    recall : float
        In (0, 1].

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    ShiftlakeError
        If a score is NaN or one of the two sides is empty.
    """
    tp, fp = counts_at_thresholds(positive, score)
    return float(fpr_from_counts(tp, fp, recall))


def fpr_from_counts(
    tp: NDArray[np.float64], fp: NDArray[np.float64], recall: float = 0.95
) -> NDArray[np.float64]:
    """FPR at `recall` over the last axis of threshold counts, shape (..., T) to (...)."""
    # Counts, not rates, are compared: 0.95 * 20 must be reached by 19 whatever the rounding.
    reached = tp >= recall * tp[..., -1:] - 1e-9
    first = np.argmax(reached, axis=-1)[..., None]
    return np.asarray((np.take_along_axis(fp, first, axis=-1) / fp[..., -1:])[..., 0])
