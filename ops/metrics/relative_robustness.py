"""Relative robustness: what an intervention gains under shift, beside the same model without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def relative_robustness(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """``tau = acc_shift(f') - acc_shift(f)`` (Taori et al., arXiv:2007.00644, section 2).

    Parameters
    ----------
    accuracy : array_like of float
        Accuracy under shift of the model with the intervention, in [0, 1].
    baseline : array_like of float
        The same of the model without it.

    Returns
    -------
    ndarray of float64
        In [-1, 1]. A model can gain here by being better everywhere: effective robustness is
        what tells that apart.
    """
    return np.asarray(np.asarray(accuracy, np.float64) - np.asarray(baseline, np.float64))
