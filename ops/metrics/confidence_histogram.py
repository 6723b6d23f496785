"""How confident a model is on images of unknown classes, against clean ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINS = 20


def confidence_histogram(confidence: NDArray[np.floating], bins: int = BINS) -> NDArray[np.int64]:
    """Images in each of `bins` bins of equal width over [0, 1].

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
        Largest softmax probability, over the 200 classes of ImageNet-O for its own images and
        for the clean ones they are compared with. NaN marks an image that could not be read, and
        is counted in no bin.
    bins : int

    Returns
    -------
    ndarray of int64, shape (bins,)
        Bin ``b`` holds ``b / bins <= confidence < (b + 1) / bins``; the last also holds 1.
    """
    confidence = np.asarray(confidence, np.float64)
    which = np.floor(confidence[~np.isnan(confidence)] * bins).astype(np.int64)
    return np.bincount(np.clip(which, 0, bins - 1), minlength=bins)
