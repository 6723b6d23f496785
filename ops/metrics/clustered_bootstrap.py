"""Intervals of what is measured on renderings of the same photographs: whole photographs are drawn.

75 renderings of one photograph are not 75 independent images, so a resample draws source images
and takes all their renderings with them, jointly across conditions. Treating rows as independent
makes an interval up to sqrt(75) = 8.7 times too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.metrics.bootstrap import keyed_generator

RESAMPLES = 10_000

METHOD = f"bootstrap over source images, {RESAMPLES:,} resamples"

# Draws of one call, and resamples of one matrix product. Both bound memory; the first belongs to
# the definition, since it decides which random number goes into which resample.
_DRAWS = 1 << 18
_PRODUCT = 256

# Sums of whole numbers up to here are exact in float32, and, with room for rounding, in float64.
_BITS_32, _BITS_64 = 24, 52


def clustered_bootstrap(
    score: NDArray[np.floating], alpha: float = 0.05, *, resamples: int = RESAMPLES
) -> tuple[float, float, float]:
    """Mean of one score a source image, with its interval.

    Parameters
    ----------
    score : ndarray of float, shape (M,)
        One number a source image, its renderings already added up or averaged.
    alpha : float
        One minus the confidence, in (0, 1).
    resamples : int

    Returns
    -------
    mean, lo, hi : float
        NaN bounds where :func:`percentile_interval` gives none.
    """
    score = np.asarray(score, np.float64)
    drawn = resampled_means(score[:, None], resamples=resamples)[:, 0]
    return float(np.mean(score)), *percentile_interval(drawn, alpha)


def resampled_means(
    total: NDArray[np.number],
    size: NDArray[np.number] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> NDArray[np.float64]:
    """Mean of every column in every resample of the source images.

    Parameters
    ----------
    total : ndarray, shape (M, K)
        What each of M source images adds to each of K means: wrong answers in a cell, flips in a
        perturbation's sequences. All columns see the same resamples, so any function of the
        means, such as mCE, is resampled by applying it to each row of the result.
    size : ndarray, shape (M, K), optional
        How many rows each source image has in each column, where that is not one: a mean is then
        the ratio of two sums.
    resamples : int
        A smaller number gives the first rows of a larger one.

    Returns
    -------
    ndarray of float64, shape (resamples, K)
        NaN where a resample holds no row of a column.

    Raises
    ------
    ShiftlakeError
        If there is no source image, or a number is not finite.

    Notes
    -----
    The draws depend on M alone, so that metrics and models over the same photographs share their
    resamples. A resample is a row of counts, and all means are one matrix product. The numbers
    are put on a grid on which every sum is exact (whole numbers stay as they are), so no order
    of addition, number of threads or processor changes a bit.
    """
    values, step = _on_grid(total)
    images, columns = values.shape
    sizes = np.ones((1, columns)) if size is None else np.asarray(size)
    # Where every image has as many rows as the others, so has every resample.
    even = bool((sizes == sizes[:1]).all())
    counts, one = _on_grid(sizes[:1] if even else sizes)
    rows = images * one * counts[:1].astype(np.float64)
    found = np.empty((resamples, columns))
    drawn = np.empty((min(_PRODUCT, resamples), images), values.dtype)
    draws = _resamples(images)
    for start in range(0, resamples, _PRODUCT):
        some = drawn[: min(_PRODUCT, resamples - start)]
        for times in some:
            times[:] = next(draws)
        sums = (some @ values).astype(np.float64) * step
        if not even:
            rows = (some.astype(counts.dtype, copy=False) @ counts).astype(np.float64) * one
        with np.errstate(invalid="ignore"):
            found[start : start + len(some)] = sums / rows
    return found


def percentile_interval(values: NDArray[np.floating], alpha: float = 0.05) -> tuple[float, float]:
    """Percentile interval of a resampled statistic.

    Parameters
    ----------
    values : ndarray of float, shape (B,)
        The statistic in each resample, denominators held fixed.
    alpha : float
        One minus the confidence, in (0, 1).

    Returns
    -------
    lo, hi : float
        NaN where a resample has no value, and where all are the same: no variation was seen, and
        an interval of no width would claim a certainty that nobody has.
    """
    values = np.asarray(values, np.float64)
    # Equal but for the rounding of the formula that was applied to each resample.
    flat = np.ptp(values) <= 1e-12 * max(1.0, float(np.max(np.abs(values))))
    if flat or not np.isfinite(values).all():
        return float("nan"), float("nan")
    lo, hi = np.quantile(values, [alpha / 2, 1 - alpha / 2])
    return float(lo), float(hi)


def _resamples(images: int) -> Iterator[NDArray[np.int64]]:
    """How often each source image is drawn, one array of shape (images,) a resample, for ever."""
    generator = keyed_generator("source images", str(images))
    together = max(1, _DRAWS // images)
    first = np.arange(together)[:, None] * images
    while True:
        drawn = generator.integers(0, images, size=(together, images), dtype=np.uint32)
        counts = np.bincount((drawn + first).reshape(-1), minlength=together * images)
        yield from counts.reshape(together, images)


def _on_grid(values: NDArray[np.number]) -> tuple[NDArray[np.floating], float]:
    """`values` in steps of a power of two, and the step: their sums are exact in their type."""
    values = np.asarray(values)
    if values.dtype.kind not in "biu":
        values = values.astype(np.float64)
    if values.ndim != 2 or not len(values) or not np.isfinite(values).all():
        raise ShiftlakeError(
            "These scores of source images cannot be resampled.",
            expected="finite numbers of shape (source images, means), at least one image",
            found=f"shape {values.shape}, {int((~np.isfinite(values)).sum())} not finite",
            where="bootstrap over source images",
            remedy="check the query the scores came from",
        )
    # A resample may draw the largest score every time.
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    bound = largest * len(values)
    whole = values.dtype.kind != "f" or (values == np.floor(values)).all()
    if whole and bound < 2.0**_BITS_64:
        return values.astype(np.float32 if bound < 2.0**_BITS_32 else np.float64), 1.0
    # The bound is below two to the power of this exponent; no step is too small for a division.
    _, exponent = math.frexp(bound)
    step = math.ldexp(1.0, max(exponent - _BITS_64, -1000))
    return np.rint(values / step), step
