"""DeepCorrect: accuracy over the levels of a distortion, the undistorted images included."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVELS = (1, 2, 3, 4, 5, 6)


def average_accuracy_7(clean: ArrayLike, accuracy: Mapping[int, ArrayLike]) -> NDArray[np.float64]:
    """Mean accuracy over level 0, which is the clean images, and the six levels.

    Parameters
    ----------
    clean : array_like of float
        Accuracy on the undistorted images, in [0, 1].
    accuracy : mapping of int to array_like of float
        Accuracy at each of the levels 1 to 6.

    Returns
    -------
    ndarray of float64
        In [0, 1], of the shape of one accuracy; "Avg" in the paper's accuracy tables (Borkar and
        Karam, arXiv:1705.02406).
    """
    total = np.asarray(clean, np.float64)
    for level in LEVELS:
        total = total + np.asarray(accuracy[level], np.float64)
    return np.asarray(total / (len(LEVELS) + 1))
