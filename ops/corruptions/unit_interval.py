"""Uniform numbers in single precision, for the kernels that need many and no more bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.corruptions.draws import Draws
from ops.corruptions.keyed import Keyed


def uniform32(draws: Draws, purpose: str, n: int) -> npt.NDArray[np.float32]:
    """Uniform numbers of [0, 1].

    Parameters
    ----------
    draws : Draws
        Where they come from. Keyed ones have 24 bits and fit without rounding.
    purpose : str
        What they are for.
    n : int
        How many.

    Returns
    -------
    float32 array, shape (n,)
        ``draws.uniform(purpose, 0, 1, (n,))``, rounded to single precision.
    """
    if isinstance(draws, Keyed):
        return (draws.words(purpose, n) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return draws.uniform(purpose, 0.0, 1.0, (n,)).astype(np.float32)
