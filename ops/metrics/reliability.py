"""The reliability diagram: accuracy beside confidence in bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.confidence import checked

BINS = 15


@dataclass(frozen=True)
class Reliability:
    """Bins of equal width over [0, 1], each array of shape (B,).

    Parameters
    ----------
    lower, upper : ndarray of float64
        A bin holds ``lower < confidence <= upper``; the first also holds 0.
    n : ndarray of int64
        Images in each bin.
    confidence, accuracy : ndarray of float64
        Means of each bin; NaN where it is empty.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    n: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def reliability(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_], bins: int = BINS
) -> Reliability:
    """Mean confidence and accuracy of the images in each bin of confidence.

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
        Probability of the predicted class, in [0, 1].
    correct : ndarray of bool, shape (N,)
    bins : int

    Raises
    ------
    ShiftlakeError
        If there is no image, or a confidence is no probability.
    """
    typed, right = checked(confidence, correct)
    edges = np.arange(bins + 1) / bins
    which = np.maximum(np.searchsorted(edges, typed, side="left") - 1, 0)
    n = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = [
            np.bincount(which, weights=each, minlength=bins) / n for each in (confidence, right)
        ]
    return Reliability(edges[:-1], edges[1:], n, *means)
