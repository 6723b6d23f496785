"""Masked accuracy, and its clean companion: the argmax over a benchmark's own classes only.

These state what is meant. What is stored is computed where the logits are, and counted by the view
``counts``; tests hold both against these on random logits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def masked_prediction(logits: NDArray[np.floating], classes: Sequence[int]) -> NDArray[np.int64]:
    """Argmax over ``logits[:, classes]``, as an index of the full label space.

    Parameters
    ----------
    logits : ndarray of float, shape (N, C)
    classes : sequence of int
        The benchmark's class subset M, rising, each in ``0 .. C-1``. M differs between
        ImageNet-A, -O and -R.

    Returns
    -------
    ndarray of int64, shape (N,)
        Comparing it with labels in M gives an accuracy that is never below the unmasked one.
    """
    subset = np.asarray(classes)
    return np.asarray(subset[np.argmax(logits[:, subset], axis=1)], dtype=np.int64)


def clean_companion(labels: NDArray[np.integer], classes: Sequence[int]) -> NDArray[np.bool_]:
    """Which clean validation images belong to a benchmark's classes.

    The companion accuracy is the masked accuracy over these images with *the same mask*
    (50 x 200 = 10,000 images); any clean-to-shifted gap is taken against it.

    Parameters
    ----------
    labels : ndarray of int, shape (N,)
    classes : sequence of int

    Returns
    -------
    ndarray of bool, shape (N,)
    """
    return np.isin(labels, np.asarray(classes))
