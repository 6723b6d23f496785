"""The exact binomial interval behind every proportion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError


def clopper_pearson(
    k: ArrayLike, n: ArrayLike, alpha: float = 0.05
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exact interval of a proportion, ``k`` successes in ``n`` trials.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, broadcast against each other, ``0 <= k <= n``.
    alpha : float
        One minus the confidence, in (0, 1).

    Returns
    -------
    lo, hi : ndarray of float64
        Bounds in [0, 1], of the broadcast shape (0-d for scalars); NaN where ``n == 0``.

    Raises
    ------
    ShiftlakeError
        If a count is negative, not whole, or ``k > n``, or `alpha` is out of range.

    Notes
    -----
    ``lo = Beta(alpha/2; k, n-k+1)``, ``hi = Beta(1-alpha/2; k+1, n-k)``, with ``lo = 0`` at
    ``k = 0`` and ``hi = 1`` at ``k = n`` (Clopper and Pearson, Biometrika 26, 1934).

    Examples
    --------
    >>> lo, hi = clopper_pearson(749, 1109)
    >>> round(float(lo), 4), round(float(hi), 4)
    (0.6469, 0.7029)
    """
    from scipy.stats import beta

    k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    _check(k, n, alpha)
    # The beta quantile is undefined on the edges; they are replaced below.
    with np.errstate(invalid="ignore"):
        lo = np.asarray(beta.ppf(alpha / 2, k, n - k + 1))
        hi = np.asarray(beta.ppf(1 - alpha / 2, k + 1, n - k))
    lo = np.where(k == 0, 0.0, lo)
    hi = np.where(k == n, 1.0, hi)
    return np.where(n == 0, np.nan, lo), np.where(n == 0, np.nan, hi)


def _check(k: NDArray[np.float64], n: NDArray[np.float64], alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ShiftlakeError(
            "The error level of an interval is out of range.",
            expected="0 < alpha < 1",
            found=alpha,
            where="clopper_pearson",
            remedy="pass alpha=0.05 for a 95 % interval",
        )
    good = (k >= 0) & (k <= n) & (k == np.floor(k)) & (n == np.floor(n)) & np.isfinite(n)
    if not good.all():
        bad = np.flatnonzero(~good.reshape(-1))[0]
        raise ShiftlakeError(
            "These counts are not successes among trials.",
            expected="whole numbers with 0 <= k <= n",
            found=f"k={k.reshape(-1)[bad]}, n={n.reshape(-1)[bad]}",
            where=f"clopper_pearson, element {bad}",
            remedy="check the query the counts came from",
        )
