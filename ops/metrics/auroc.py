"""AUROC: the chance that a positive scores above a negative, ties counting half."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.thresholds import counts_at_thresholds


def auroc(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Area under the ROC curve.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    score : ndarray of float, shape (N,)
        Higher means more likely positive.

    Returns
    -------
    float
        In [0, 1]; 0.5 for constant scores.

    Raises
    ------
    ShiftlakeError
        If a score is NaN or one of the two sides is empty.
    """
    tp, fp = counts_at_thresholds(positive, score)
    return float(auroc_from_counts(tp, fp))


def auroc_from_counts(tp: NDArray[np.float64], fp: NDArray[np.float64]) -> NDArray[np.float64]:
    """AUROC over the last axis of threshold counts, shape (..., T) to (...)."""
    tpr, fpr = tp / tp[..., -1:], fp / fp[..., -1:]
    # Within a tie the ROC curve is a straight line, so the trapezoid is exact.
    height = tpr - np.diff(tpr, axis=-1, prepend=0.0) / 2
    return np.asarray(np.sum(np.diff(fpr, axis=-1, prepend=0.0) * height, axis=-1))
