"""ImageNet-P: how far the whole ranking of the classes moves between the frames of a sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.frame_pairs import Reference, frame_pairs

_LOW = np.int64(0xFFFFFFFF)


def reciprocal_ranks(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """One over the rank of every class, likeliest first, ties by index.

    Parameters
    ----------
    logits : float32 ndarray, shape (..., C)
        No NaN; ``-inf`` for a class without a logit, which ranks behind all others.

    Returns
    -------
    ndarray of float64, shape (..., C)
        A permutation of ``1, 1/2, ..., 1/C`` in each row.
    """
    rows = np.ascontiguousarray(logits, np.float32).reshape(-1, logits.shape[-1])
    classes = rows.shape[1]
    # The bits of a float, read as an integer, sort as the floats do where it is positive; of a
    # negative one all but the sign are turned. Adding zero makes -0 equal to 0.
    bits = (rows + np.float32(0)).view(np.int32)
    turned = bits >> np.int32(31)
    turned &= np.int32(0x7FFFFFFF)
    turned ^= bits
    # With the index below them no two keys are equal, so that the fastest sort is a stable one.
    keys = np.empty(rows.shape, np.int64)
    np.invert(turned, out=keys, casting="safe")
    keys <<= 32
    keys |= np.arange(classes)
    keys.sort(axis=1)
    keys &= _LOW
    found = np.empty(rows.shape)
    shares = 1.0 / np.arange(1, classes + 1)
    for order, shares_of_one in zip(keys, found, strict=True):
        shares_of_one[order] = shares
    return found.reshape(logits.shape)


def zipf_distance(logits: NDArray[np.float32], reference: Reference) -> NDArray[np.float64]:
    """Zipf distance of every pair of frames.

    ``d = sum_{i=1..C} |1/i - 1/s(i)| / i``, where ``s(i)`` is the later frame's rank of the class
    that the earlier frame ranks ``i``: all C classes count, the first most.

    Parameters
    ----------
    logits : float32 ndarray, shape (M, N, C)
        Of the N frames of M sequences. Ties rank by index.
    reference : {"first", "previous"}
        What each of the N - 1 later frames is compared with.

    Returns
    -------
    ndarray of float64, shape (M, N - 1)
        At least 0; 0 where both frames rank all classes alike. The mean over the pairs of a
        sequence, then over sequences, is the unnormalised Zipf distance of a perturbation
        (Hendrycks and Dietterich, arXiv:1903.12261, section 4, and their test script).
    """
    found = np.empty((logits.shape[0], logits.shape[1] - 1))
    # Sequence by sequence, which fits into the cache.
    for logits_of_one, distances in zip(logits, found, strict=True):
        earlier, later = frame_pairs(reciprocal_ranks(logits_of_one[None]), reference)
        moved = np.abs(earlier - later)
        moved *= earlier
        distances[:] = moved[0].sum(axis=-1)
    return found
