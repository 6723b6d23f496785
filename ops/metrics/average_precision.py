"""AUPR as the step-wise sum (average precision), never the trapezoid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.thresholds import counts_at_thresholds


def average_precision(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Area under the precision-recall curve, ``sum_t (R_t - R_{t-1}) P_t``.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    score : ndarray of float, shape (N,)
        Higher means more likely positive; ties are one threshold.

    Returns
    -------
    float
        In (0, 1]; constant scores give the share of positives. Equal to scikit-learn's
        ``average_precision_score``; the trapezoidal area some peers report is larger.

    Raises
    ------
    ShiftlakeError
        If a score is NaN or one of the two sides is empty.
    """
    tp, fp = counts_at_thresholds(positive, score)
    return float(average_precision_from_counts(tp, fp))


def average_precision_from_counts(
    tp: NDArray[np.float64], fp: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Average precision over the last axis of threshold counts, shape (..., T) to (...)."""
    # A resample can leave the first thresholds empty: precision there is irrelevant (no recall).
    precision = tp / np.maximum(tp + fp, 1)
    recall = tp / tp[..., -1:]
    return np.asarray(np.sum(np.diff(recall, axis=-1, prepend=0.0) * precision, axis=-1))
