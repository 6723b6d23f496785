"""Top-k accuracy: an accepted label is among the k largest logits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def top_k_correct(
    top_idx: NDArray[np.integer], labels: Sequence[Sequence[int]], k: int
) -> NDArray[np.bool_]:
    """Whether any accepted label is among the first `k` predictions, per image.

    Parameters
    ----------
    top_idx : ndarray of int, shape (N, K)
        Class indices by falling logit, ties by index; ``K >= k``. A row of -1 is an image that
        could not be read, and is wrong.
    labels : sequence of N sequences of int
        Accepted labels of each image, at least one.
    k : int
        1 for top-1, 5 for top-5.

    Returns
    -------
    ndarray of bool, shape (N,)
        Its mean over the *expected* images is the accuracy.
    """
    return np.array(
        [not set(first).isdisjoint(own) for first, own in zip(top_idx[:, :k], labels, strict=True)],
        dtype=bool,
    )
