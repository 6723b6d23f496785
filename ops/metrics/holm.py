"""Holm's step-down correction: one family of tests, one chance of a false alarm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values of a family of tests, for example one a benchmark.

    Parameters
    ----------
    p : array_like of float, shape (N,)
        In [0, 1]; NaN is a test that was not made: it stays NaN and is not counted. One that is
        still to be made is 1 instead, lest the others change when it is.

    Returns
    -------
    ndarray of float64, shape (N,)
        To be compared with the error level of the whole family: if none of the models differ
        anywhere, the chance that any adjusted value lies below alpha is at most alpha, however
        the benchmarks depend on each other (Holm, Scandinavian Journal of Statistics 6, 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, np.float64)
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    steps = p[order] * np.arange(made.size, 0, -1)
    # A test is never surer than one of a smaller p-value.
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
