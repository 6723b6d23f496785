"""ImageNet-P: how far the five likeliest classes move between the frames of a sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.frame_pairs import Reference, frame_pairs


def top5_distance(top5: NDArray[np.integer], reference: Reference) -> NDArray[np.int64]:
    """Sum over the pairs of each sequence of the top-5 distance ``d``.

    ``d = sum_{k=1..5} |min(k - 1, 5) - min(s(k) - 1, 5)|``, where ``s(k)`` is the later frame's
    rank of the class that the earlier frame ranks ``k``. A class beyond the later top 5 counts as
    rank 6, so the five indices in their order are all that is needed.

    Parameters
    ----------
    top5 : ndarray of int, shape (M, N, 5)
        Five likeliest classes of the N frames of M sequences, likeliest first. -1 is no class: a
        frame that could not be read is filled with it and shares no class with any other, which
        gives 15.
    reference : {"first", "previous"}
        What each of the N - 1 later frames is compared with.

    Returns
    -------
    ndarray of int64, shape (M,)
        At most 18 a pair. The mean over sequences of ``sum / (N - 1)`` is the unnormalised T5D of
        a perturbation; the paper's T5D divides it by AlexNet's (Hendrycks and Dietterich,
        arXiv:1903.12261, section 4).
    """
    earlier, later = frame_pairs(top5, reference)
    total = np.zeros(later.shape[0], np.int64)
    for k in range(5):
        rank = np.full(later.shape[:2], 5, np.int8)
        wanted = earlier[..., k]
        for place in range(5):
            found = later[..., place]
            rank[(found == wanted) & (found >= 0)] = place
        total += np.abs(rank - np.int8(k)).sum(axis=1, dtype=np.int64)
    return total
