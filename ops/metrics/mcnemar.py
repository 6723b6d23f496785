"""McNemar's exact test: whether two models differ on the same images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError


def mcnemar(b: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p-value of the hypothesis that neither model is better.

    Parameters
    ----------
    b, c : array_like of int
        Discordant pairs: images that only the first model has right, and that only the second
        has. Broadcast against each other, not negative. Images on which both agree say nothing
        about which is better, and do not enter.

    Returns
    -------
    ndarray of float64
        In (0, 1], of the broadcast shape (0-d for scalars); 1 where ``b == c``, and so where no
        image tells the models apart.

    Raises
    ------
    ShiftlakeError
        If a count is negative or not whole.

    Notes
    -----
    Given ``b + c``, `b` is binomial with one half (McNemar, Psychometrika 12, 1947), so
    ``p = min(1, 2 P[X <= min(b, c)])``: no normal approximation, no continuity correction.

    Examples
    --------
    >>> round(float(mcnemar(2, 11)), 6)
    0.022461
    """
    from scipy.stats import binom

    b, c = np.broadcast_arrays(np.asarray(b, np.float64), np.asarray(c, np.float64))
    good = (b >= 0) & (c >= 0) & (b == np.floor(b)) & (c == np.floor(c)) & np.isfinite(b + c)
    if not good.all():
        bad = np.flatnonzero(~good.reshape(-1))[0]
        raise ShiftlakeError(
            "These counts are not numbers of images.",
            expected="whole numbers, not negative",
            found=f"b={b.reshape(-1)[bad]}, c={c.reshape(-1)[bad]}",
            where=f"mcnemar, element {bad}",
            remedy="check the query the counts came from",
        )
    return np.asarray(np.minimum(1.0, 2 * binom.cdf(np.minimum(b, c), b + c, 0.5)))
