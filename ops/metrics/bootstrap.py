"""Bootstrap intervals of detection metrics, seeded by what is measured."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ops.metrics.percentile_interval import percentile_interval
from ops.metrics.thresholds import check_scores, group_ends

FromCounts = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

# Resamples handled at once: bounds memory at about 50 MB for 12,000 images.
_CHUNK = 125


def keyed_generator(*keys: str) -> np.random.Generator:
    """Random generator that depends on `keys` alone, never on time, order or worker."""
    digest = hashlib.sha256("\0".join(keys).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def stratified_bootstrap(
    positive: NDArray[np.bool_],
    score: NDArray[np.floating],
    metrics: dict[str, FromCounts],
    generator: np.random.Generator,
    *,
    resamples: int = 1000,
    alpha: float = 0.05,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals, resampling positives and negatives apart.

    The class sizes are fixed by the protocol, so each side keeps its size; AUPR is no
    proportion, so no binomial interval exists for it.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    score : ndarray of float, shape (N,)
    metrics : dict of name to callable
        Each maps counts at thresholds ``(tp, fp)`` of shape (B, T) to values of shape (B,).
    generator : numpy.random.Generator
    resamples : int
    alpha : float

    Returns
    -------
    dict of name to (lo, hi)
        NaN where all resamples have the same value, as of a perfect detector: see
        :func:`ops.metrics.percentile_interval`.
    """
    positive, score = check_scores(positive, score)
    order = np.argsort(-score, kind="stable")
    positive, ends = positive[order], group_ends(score[order])
    sides = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    values: dict[str, list[NDArray[np.float64]]] = {name: [] for name in metrics}
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        tp, fp = (_resampled_counts(side, positive.size, size, generator, ends) for side in sides)
        for name, metric in metrics.items():
            values[name].append(metric(tp, fp))
    return {
        name: percentile_interval(np.concatenate(parts), alpha) for name, parts in values.items()
    }


def _resampled_counts(
    side: NDArray[np.intp],
    total: int,
    size: int,
    generator: np.random.Generator,
    ends: NDArray[np.intp],
) -> NDArray[np.float64]:
    drawn = side[generator.integers(0, side.size, size=(size, side.size))]
    rows = np.arange(size)[:, None] * total
    weights = np.bincount((drawn + rows).reshape(-1), minlength=size * total)
    return np.cumsum(weights.reshape(size, total), axis=1)[:, ends].astype(np.float64)
