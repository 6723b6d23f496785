"""ECE: the expected distance between confidence and accuracy, in bins of equal width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.reliability import BINS, reliability


def ece(confidence: NDArray[np.floating], correct: NDArray[np.bool_], bins: int = BINS) -> float:
    """Expected calibration error, ``sum_b n_b / N * |accuracy_b - mean confidence_b|``.

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
        Probability of the predicted class, in [0, 1].
    correct : ndarray of bool, shape (N,)
    bins : int
        15, as in Guo et al., arXiv:1706.04599, section 2.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ShiftlakeError
        If there is no image, or a confidence is no probability.
    """
    found = reliability(confidence, correct, bins)
    gap = np.where(found.n > 0, np.abs(found.accuracy - found.confidence), 0.0)
    return float(np.sum(found.n / found.n.sum() * gap))
