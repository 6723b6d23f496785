"""Tango's interval: by how much the accuracies of two models differ on the same images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError

METHOD = "Tango score interval"

# Halvings of an interval of width 1: beyond the last bit of any bound worth telling.
_STEPS = 60


def paired_difference(
    lost: ArrayLike, gained: ArrayLike, n: ArrayLike, alpha: float = 0.05
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score interval of ``(gained - lost) / n``.

    Parameters
    ----------
    lost, gained : array_like of int
        Images that only the first model has right, and that only the second has; broadcast.
    n : array_like of int
        All images of the comparison, those included on which both agree.
    alpha : float
        One minus the confidence. Each bound alone holds with ``1 - alpha / 2``.

    Returns
    -------
    lo, hi : ndarray of float64
        Bounds in [-1, 1], positive where the second model is better; NaN where ``n == 0``.

    Raises
    ------
    ShiftlakeError
        If the counts are not whole, are negative, or do not fit into `n`, or `alpha` is out of
        range.

    Notes
    -----
    All differences that a score test at level `alpha` does not refuse, with the shares of
    discordant images at their maximum likelihood under that difference (Tango, Statistics in
    Medicine 17, 1998, 891-908). A non-inferiority test by this interval is therefore the score
    test of the same paper.

    It was chosen because it does not degenerate where few images or none tell the models apart,
    which is what a release candidate hopes for: with ``lost = gained = 0`` the bounds are
    ``±z² / (n + z²)``, 3.84 / n, and the exact one is 3.69 / n. A bootstrap, and Wald's interval,
    have no width there and would show non-inferiority with ten images. With only losses, rare
    as they are, it becomes the score interval of a Poisson mean, whose upper bound is a little
    wide and never too narrow; the exact unconditional interval costs a search over a nuisance
    parameter for each of many benchmarks and differs by less than one image.

    Examples
    --------
    >>> lo, hi = paired_difference(7, 1, 21)
    >>> round(float(lo), 3), round(float(hi), 3)
    (-0.517, -0.026)
    """
    from scipy.stats import norm

    lost, gained, n = np.broadcast_arrays(
        *(np.asarray(count, np.float64) for count in (lost, gained, n))
    )
    _check(lost, gained, n, alpha)
    z = float(norm.ppf(1 - alpha / 2))
    lo, hi = -_upper(lost, gained, n, z), _upper(gained, lost, n, z)
    return np.where(n == 0, np.nan, lo), np.where(n == 0, np.nan, hi)


def _upper(
    b: NDArray[np.float64], c: NDArray[np.float64], n: NDArray[np.float64], z: float
) -> NDArray[np.float64]:
    """Largest difference of ``(b - c) / n`` that is not refused, by halving."""
    n = np.maximum(n, 1)
    low, high = np.asarray((b - c) / n), np.ones(n.shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        # The likelihood is quadratic in the rarer share, q.
        linear = (2 * n - b + c) * middle - b - c
        q = (np.sqrt(linear**2 + 8 * n * c * middle * (1 - middle)) - linear) / (4 * n)
        variance = np.maximum(n * (2 * q + middle * (1 - middle)), 0)
        held = n * middle - (b - c) <= z * np.sqrt(variance)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    return high


def _check(
    lost: NDArray[np.float64], gained: NDArray[np.float64], n: NDArray[np.float64], alpha: float
) -> None:
    if not 0 < alpha < 1:
        raise ShiftlakeError(
            "The error level of an interval is out of range.",
            expected="0 < alpha < 1",
            found=alpha,
            where="paired_difference",
            remedy="pass alpha=0.05 for a 95 % interval",
        )
    good = (lost >= 0) & (gained >= 0) & (lost + gained <= n) & np.isfinite(n)
    for count in (lost, gained, n):
        good &= count == np.floor(count)
    if not good.all():
        bad = np.flatnonzero(~good.reshape(-1))[0]
        raise ShiftlakeError(
            "These counts are not discordant images among all.",
            expected="whole numbers, not negative, with lost + gained <= n",
            found=", ".join(
                f"{name}={count.reshape(-1)[bad]:g}"
                for name, count in (("lost", lost), ("gained", gained), ("n", n))
            ),
            where=f"paired_difference, element {bad}",
            remedy="check the query the counts came from",
        )
