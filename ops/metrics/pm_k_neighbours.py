"""Milder than the worst frame: the mean over the neighbours, and one of them by chance."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from ops.metrics.pm_k_index import FrameSetIndex


def mean_neighbour(
    index: FrameSetIndex, correct: NDArray[np.bool_], k: int = 10
) -> NDArray[np.float64]:
    """Share of each anchor's neighbours within `k` that are right, shape (A,), in [0, 1].

    An anchor without a neighbour there is scored by itself, as in pm-k.
    """
    beside = (index.distance <= k) & (index.distance > 0)
    sizes = np.bincount(index.which[beside], minlength=index.n)
    right = np.bincount(index.which[beside], correct[index.rows[beside]], minlength=index.n)
    alone = index.right_at_anchor(correct).astype(np.float64)
    return np.where(sizes > 0, right / np.maximum(sizes, 1), alone)


def random_neighbours(
    index: FrameSetIndex, sample_key: NDArray[np.object_], k: int = 10
) -> NDArray[np.intp]:
    """One neighbour of each anchor within `k`, as a place in the arrays of scores; shape (A,).

    The one whose key has the smallest SHA-256: drawn evenly, and the same for every model, on any
    machine and in SQL. An anchor without a neighbour there stands for itself.

    Notes
    -----
    Gu et al. (arXiv:1904.10076) score one frame drawn at random beside each anchor.
    """
    beside = np.flatnonzero((index.distance <= k) & (index.distance > 0))
    keys = [
        hashlib.sha256(str(key).encode()).digest()[:16] for key in sample_key[index.rows[beside]]
    ]
    parts = np.frombuffer(b"".join(keys), ">u8").reshape(-1, 2)
    order = beside[np.lexsort((parts[:, 1], parts[:, 0], index.which[beside]))]
    which = index.which[order]
    first = np.r_[True, which[1:] != which[:-1]][: len(which)]
    drawn = index.rows[index.starts].copy()
    drawn[which[first]] = index.rows[order[first]]
    return drawn
