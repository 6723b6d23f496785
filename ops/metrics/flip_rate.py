"""FR and mFR, T5D and mT5D: what moves between frames, in units of what moves for AlexNet."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.flips import PERTURBATIONS_10, mean_over_10


def over_normaliser_pct(value: ArrayLike, normaliser: float) -> NDArray[np.float64]:
    """FR, or T5D, of one perturbation in percent.

    Parameters
    ----------
    value : array_like of float
        Flip probability gives FR, the unnormalised top-5 distance gives T5D.
    normaliser : float
        The same of an AlexNet **on the same sequences**, above 0.

    Notes
    -----
    ``FR_p = FP_p / FP_p(AlexNet)`` and ``T5D_p = uT5D_p / uT5D_p(AlexNet)`` (Hendrycks and
    Dietterich, arXiv:1903.12261, section 4).
    """
    return np.asarray(100 * np.asarray(value, np.float64) / normaliser)


def mean_over_normaliser_pct(
    values: Mapping[str, ArrayLike], normaliser: Mapping[str, float]
) -> NDArray[np.float64]:
    """MFR, or mT5D, in percent: the mean over the 10 perturbations. ResNet-50 has 58.0 and 78.4.

    Parameters
    ----------
    values : mapping of str to array_like of float
        Flip probabilities, or unnormalised top-5 distances, at least of the 10.
    normaliser : mapping of str to float
        The same of an AlexNet on the same sequences.
    """
    return mean_over_10(
        {name: over_normaliser_pct(values[name], normaliser[name]) for name in PERTURBATIONS_10}
    )
