"""ReaL accuracy: the prediction is in the image's reassessed label set.

This states what is meant; what is stored is counted by the view ``counts``, which tests hold
against this on random logits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def real_correct(
    pred: NDArray[np.integer], label_sets: Sequence[Sequence[int]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Correctness under ReaL labels, and which images count at all.

    Parameters
    ----------
    pred : ndarray of int, shape (N,)
        Top-1 class; -1 for an image that could not be read.
    label_sets : sequence of N sequences of int
        Reassessed labels of the same images in the same order; may be empty.

    Returns
    -------
    correct, counted : ndarray of bool, shape (N,)
        Accuracy is ``correct[counted].mean()``. Images with an **empty** set do not count:
        50,000 - 3,163 = 46,837 remain (Beyer et al., arXiv:2006.07159).
    """
    correct = np.array([p in own for p, own in zip(pred.tolist(), label_sets, strict=True)], bool)
    counted = np.array([len(own) > 0 for own in label_sets], bool)
    return correct, counted
