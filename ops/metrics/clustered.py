"""The interval of a mean whose rows come in clusters: renderings of one photograph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

METHOD = "normal, clustered by source image"


def clustered_interval(
    score: NDArray[np.floating], alpha: float = 0.05
) -> tuple[float, float, float]:
    """Mean of one score per source image, with its interval.

    Parameters
    ----------
    score : ndarray of float, shape (M,)
        One number per source image: its (weighted) errors summed over all its renderings.
    alpha : float

    Returns
    -------
    mean, lo, hi : float
        NaN bounds for fewer than two images, and where all images score the same: no variation
        was seen, and an interval of no width would claim a certainty that nobody has.

    Notes
    -----
    75 renderings of one photograph are not 75 independent images: treating rows as
    independent makes the interval up to sqrt(75) = 8.7 times too narrow.
    """
    from scipy.stats import norm

    mean = float(np.mean(score))
    if score.size < 2 or np.ptp(score) == 0:
        return mean, float("nan"), float("nan")
    half = float(norm.ppf(1 - alpha / 2)) * float(np.std(score, ddof=1)) / np.sqrt(score.size)
    return mean, mean - float(half), mean + float(half)
