"""CE and mCE: errors under corruption in units of AlexNet's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.corruption import Errors, Normaliser, corruptions_15, mean_over


def ce_pct(corruption: str, error: ArrayLike, over: Normaliser) -> NDArray[np.float64]:
    """Corruption error in percent, ``sum_s E(c,s) / sum_s E_over(c,s)``.

    Parameters
    ----------
    corruption : str
    error : array_like of float
        Top-1 error in [0, 1], mean over the five severities.
    over : Normaliser
        :func:`ops.metrics.corruption.alexnet_errors` for the published figures.

    Notes
    -----
    Hendrycks and Dietterich, arXiv:1903.12261, section 4.2.
    """
    return np.asarray(100 * np.asarray(error, np.float64) / over.mean[corruption])


def mce_pct(error: Errors, over: Normaliser) -> NDArray[np.float64]:
    """Mean corruption error in percent: the mean of CE over the 15, never of the 4 extras.

    ResNet-50 has 76.7.

    Parameters
    ----------
    error : mapping of corruption to array_like of float
        Top-1 error in [0, 1], mean over the five severities, of at least the 15.
    over : Normaliser
    """
    names = corruptions_15()
    return mean_over({name: ce_pct(name, error[name], over) for name in names}, names)
