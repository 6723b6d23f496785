"""MiniImageNet-C's CE: severity 5 over AlexNet's severity 5, never over its mean of severities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.corruption import Errors, Normaliser, corruptions_15, mean_over


def ce_severity_5_pct(corruption: str, error: ArrayLike, over: Normaliser) -> NDArray[np.float64]:
    """Corruption error at severity 5 in percent, ``E(c,5) / E_over(c,5)``.

    Parameters
    ----------
    corruption : str
    error : array_like of float
        Top-1 error at severity 5, in [0, 1].
    over : Normaliser
    """
    return np.asarray(100 * np.asarray(error, np.float64) / over.by_severity[corruption][4])


def mce_severity_5_pct(error: Errors, over: Normaliser) -> NDArray[np.float64]:
    """Mean of the corruption errors at severity 5 over the 15, in percent.

    Parameters
    ----------
    error : mapping of corruption to array_like of float
        Top-1 error at severity 5, in [0, 1], of at least the 15.
    over : Normaliser
    """
    names = corruptions_15()
    return mean_over({name: ce_severity_5_pct(name, error[name], over) for name in names}, names)
