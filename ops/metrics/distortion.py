"""DeepCorrect: accuracy over the levels of a distortion, the undistorted images included."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

LEVELS = (1, 2, 3, 4, 5, 6)


def average_accuracy_7(clean: float, accuracy: Mapping[int, float]) -> float:
    """Mean accuracy over level 0, which is the clean images, and the six levels.

    Parameters
    ----------
    clean : float
        Accuracy on the undistorted images, in [0, 1].
    accuracy : mapping of int to float
        Accuracy at each of the levels 1 to 6.

    Returns
    -------
    float
        In [0, 1]; "Avg" in the paper's accuracy tables (Borkar and Karam, arXiv:1705.02406).
    """
    return float(np.mean([clean, *(accuracy[level] for level in LEVELS)]))
