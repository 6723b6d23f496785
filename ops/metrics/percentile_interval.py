"""The interval of a resampled statistic, and that there is none without spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def percentile_interval(values: NDArray[np.floating], alpha: float = 0.05) -> tuple[float, float]:
    """Percentile interval of a resampled statistic.

    Parameters
    ----------
    values : ndarray of float, shape (B,)
        The statistic in each resample, denominators held fixed.
    alpha : float
        One minus the confidence, in (0, 1).

    Returns
    -------
    lo, hi : float
        NaN where a resample has no value, and where all are the same: no variation was seen, and
        an interval of no width would claim a certainty that nobody has.
    """
    values = np.asarray(values, np.float64)
    # Equal but for the rounding of the formula that was applied to each resample.
    flat = np.ptp(values) <= 1e-12 * max(1.0, float(np.max(np.abs(values))))
    if flat or not np.isfinite(values).all():
        return float("nan"), float("nan")
    lo, hi = np.quantile(values, [alpha / 2, 1 - alpha / 2])
    return float(lo), float(hi)
