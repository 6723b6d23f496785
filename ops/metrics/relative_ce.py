"""Relative CE and relative mCE: what corruption adds to the clean error, in units of AlexNet's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.corruption import Errors, Normaliser, corruptions_15, mean_over


def relative_ce_pct(
    corruption: str, error: ArrayLike, clean: ArrayLike, over: Normaliser
) -> NDArray[np.float64]:
    """Relative CE in percent, ``sum_s (E(c,s) - E) / sum_s (E_over(c,s) - E_over)``.

    Parameters
    ----------
    corruption : str
    error : array_like of float
        Top-1 error in [0, 1], mean over the five severities.
    clean : array_like of float
        Top-1 error on the clean images, in [0, 1].
    over : Normaliser

    Returns
    -------
    ndarray of float64
        Negative where the corrupted images are easier than the clean ones.

    Notes
    -----
    Hendrycks and Dietterich, arXiv:1903.12261, section 4.2.
    """
    added = np.asarray(error, np.float64) - np.asarray(clean, np.float64)
    return np.asarray(100 * added / (over.mean[corruption] - over.clean))


def relative_mce_pct(error: Errors, clean: ArrayLike, over: Normaliser) -> NDArray[np.float64]:
    """Relative mCE in percent: the mean of relative CE over the 15.

    Parameters
    ----------
    error : mapping of corruption to array_like of float
        Top-1 error in [0, 1], mean over the five severities, of at least the 15.
    clean : array_like of float
    over : Normaliser
    """
    names = corruptions_15()
    return mean_over({n: relative_ce_pct(n, error[n], clean, over) for n in names}, names)
