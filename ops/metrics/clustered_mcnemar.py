"""McNemar's test where several images come from one photograph, or a score is no yes or no."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Up to here all sign patterns are counted out: 2 ** 16 of them.
_EXACT = 16


def clustered_mcnemar(difference: NDArray[np.floating]) -> float:
    """Two-sided p-value of the hypothesis that neither model is better.

    Parameters
    ----------
    difference : ndarray of float, shape (M,)
        One number a source image: the second model's score less the first's, summed over all
        rows of that image. Renderings of one photograph are not independent; photographs are.

    Returns
    -------
    float
        In (0, 1]; 1 where no image tells the models apart.

    Notes
    -----
    If neither is better, the sign of every difference is as good as a coin's. Where at most 16
    are not 0, all their sign patterns are counted; beyond, the statistic of Durkalski et al.
    (Statistics in Medicine 22, 2003), ``sum(d)**2 / sum(d**2)``, is the normal limit of the same
    distribution. With one row an image the first is McNemar's exact test, the second his
    chi-squared.
    """
    from scipy.stats import norm

    some = _whole(difference[difference != 0])
    if not some.size:
        return 1.0
    total = abs(int(some.sum()))
    if some.size > _EXACT:
        spread = np.sqrt(float(np.sum(some.astype(np.float64) ** 2)))
        # Never 0: beyond what a double can hold, it is only not larger than this.
        return float(np.clip(2 * norm.sf(total / spread), np.finfo(np.float64).tiny, 1))
    sums = np.zeros(1, np.int64)
    for each in np.abs(some):
        sums = np.concatenate([sums - each, sums + each])
    # Each was rounded: sums that are equal may differ by as many units.
    return float(np.mean(np.abs(sums) >= total - some.size))


def _whole(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """The values in units of a power of two, so that no sum depends on its order."""
    if not values.size:
        return np.zeros(0, np.int64)
    _, exponent = np.frexp(np.max(np.abs(values)))
    return np.asarray(np.rint(np.ldexp(values, 40 - exponent)), np.int64)
