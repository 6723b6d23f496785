"""The interval of a mean over source images: a bootstrap, and wider where few images say anything.

A bootstrap draws only what was seen. With one wrong photograph in fifty it gives [0, 6 %], though
an error of 10.6 % would have shown as little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.clustered_bootstrap import METHOD, RESAMPLES, resampled_means
from ops.metrics.percentile_interval import percentile_interval

# Fewer source images than these that differ from the common answer are few.
FEW = 30

WIDER = f"wider of Clopper-Pearson over source images and {METHOD}"


def clustered_interval(
    score: NDArray[np.floating], drawn: NDArray[np.floating], alpha: float = 0.05
) -> tuple[float, float, str]:
    """Interval of the mean of one score a source image, and what it is called.

    Parameters
    ----------
    score : ndarray of float, shape (M,)
        What each source image adds.
    drawn : ndarray of float, shape (B,)
        The mean in each resample of the images.
    alpha : float
        One minus the confidence, in (0, 1).

    Returns
    -------
    lo, hi : float
        NaN where :func:`percentile_interval` gives none.
    method : str
        `METHOD`, or `WIDER` where :func:`effective_images` gives fewer than `FEW`.

    Notes
    -----
    The wider interval takes what is above the median score, each image as a share of the largest
    such excess, and adds these shares up: so many successes in M trials, not always whole, have
    the interval of Clopper and Pearson. Of images that are right or wrong it is exact, and images
    that are partly right vary less. What is below the median likewise; where there is both, each
    has half of `alpha`. The result is never narrower than the bootstrap's.
    """
    lo, hi = percentile_interval(drawn, alpha)
    score = np.asarray(score, np.float64)
    if np.isnan(lo) or effective_images(score) >= FEW:
        return lo, hi, METHOD
    centre = _centre(score)
    above, below = np.maximum(score - centre, 0), np.maximum(centre - score, 0)
    own = alpha / 2 if above.any() and below.any() else alpha
    (up_lo, up_hi), (down_lo, down_hi) = _part(above, own), _part(below, own)
    return min(lo, centre + up_lo - down_hi), max(hi, centre + up_hi - down_lo), WIDER


def clustered_bootstrap(
    score: NDArray[np.floating], alpha: float = 0.05, *, resamples: int = RESAMPLES
) -> tuple[float, float, float]:
    """Mean of one score a source image, with its interval.

    Parameters
    ----------
    score : ndarray of float, shape (M,)
        One number a source image, its renderings already added up or averaged.
    alpha : float
        One minus the confidence, in (0, 1).
    resamples : int

    Returns
    -------
    mean, lo, hi : float
        Bounds as :func:`clustered_interval` gives them.
    """
    score = np.asarray(score, np.float64)
    drawn = resampled_means(score[:, None], resamples=resamples)[:, 0]
    return float(np.mean(score)), *clustered_interval(score, drawn, alpha)[:2]


def effective_images(score: NDArray[np.floating]) -> float:
    """How many source images the spread of a score rests on, ``(sum |d|)^2 / sum d^2``.

    ``d`` is the distance to the median score: of 50 images of which one is wrong, one.
    """
    distance = np.abs(score - _centre(score))
    square = float((distance**2).sum())
    return float(distance.sum()) ** 2 / square if square else 0.0


def _centre(score: NDArray[np.floating]) -> float:
    """A median that is one of the scores."""
    return float(np.quantile(score, 0.5, method="lower"))


def _part(excess: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """Interval of the mean of what is not negative; zero where all is."""
    from scipy.stats import beta

    largest = float(excess.max(initial=0))
    if not largest:
        return 0.0, 0.0
    n = len(excess)
    k = min(float((excess / largest).sum()), n)
    lo = beta.ppf(alpha / 2, k, n - k + 1)
    hi = beta.ppf(1 - alpha / 2, k + 1, n - k) if k < n else 1.0
    return largest * float(lo), largest * float(hi)
