"""How far several raters agree beyond chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError


@dataclass(frozen=True)
class FleissKappa:
    """Agreement of several raters.

    Attributes
    ----------
    kappa : float
        At most 1; 0 where raters agree as often as by chance. NaN where all chose one category,
        for then agreement beyond chance cannot be told.
    observed, expected : float
        Share of pairs of ratings of an item that agree, and the share expected by chance.
    by_category : float64 array, shape (categories,)
        Agreement on each category against all others; NaN where it was never or always chosen.
    """

    kappa: float
    observed: float
    expected: float
    by_category: NDArray[np.float64]


def fleiss_kappa(counts: ArrayLike) -> FleissKappa:
    """Fleiss' kappa of nominal ratings; the raters of different items may be different people.

    Parameters
    ----------
    counts : array_like of int, shape (items, categories)
        How many raters put each item into each category; the same number of raters, at least 2,
        for every item.

    Returns
    -------
    FleissKappa

    Raises
    ------
    ShiftlakeError
        If there are no items, a count is negative, or items have different numbers of raters.

    Notes
    -----
    With N items, n raters and counts n_ij: ``P = mean_i (sum_j n_ij^2 - n) / (n (n - 1))``,
    ``p_j = sum_i n_ij / (N n)``, ``P_e = sum_j p_j^2`` and ``kappa = (P - P_e) / (1 - P_e)``. For
    category j ``1 - sum_i n_ij (n - n_ij) / (N n (n - 1) p_j (1 - p_j))``. Fleiss, "Measuring
    nominal scale agreement among many raters", Psychological Bulletin 76 (1971), equations 3 to 7
    and 13.

    Examples
    --------
    >>> round(fleiss_kappa([[2, 0], [0, 2], [1, 1], [2, 0]]).kappa, 4)
    0.4667
    """
    table = np.asarray(counts, np.float64)
    raters = table.sum(1) if table.ndim == 2 else np.zeros(0)
    if table.ndim != 2 or not table.size or (table < 0).any() or raters[0] < 2 or np.ptp(raters):
        raise ShiftlakeError(
            "These are no ratings of items by a constant number of raters.",
            expected="an array (items, categories) of counts whose rows have one sum, at least 2",
            found=f"shape {table.shape}, row sums {sorted(set(raters.tolist()))[:5]}",
            where="fleiss_kappa",
            remedy="group items by their number of raters",
        )
    n = raters[0]
    observed = float(((table**2).sum(1) - n).mean() / (n * (n - 1)))
    p = table.sum(0) / table.sum()
    expected = float((p**2).sum())
    apart = (table * (n - table)).mean(0) / (n * (n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        by_category = np.where((p > 0) & (p < 1), 1 - apart / (p * (1 - p)), np.nan)
    chance = (p == 1).any()
    kappa = float("nan") if chance else (observed - expected) / (1 - expected)
    return FleissKappa(kappa, observed, expected, by_category)
