"""Mean per-class accuracy: every class weighs the same, however many images it has."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def mean_per_class_accuracy(k: ArrayLike, n: ArrayLike) -> float:
    """Mean over classes of the share of the class's images that are right.

    Parameters
    ----------
    k, n : array_like of int, shape (C,)
        Correct and expected images of each class that has images.

    Returns
    -------
    float
        In [0, 1]; the usual figure on Caltech-101/256 and SUN-397 (DeepCorrect, section 5).
    """
    return float(np.mean(np.asarray(k, np.float64) / np.asarray(n, np.float64)))
