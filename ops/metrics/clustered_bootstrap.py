"""Intervals of what is measured on renderings of the same photographs: whole photographs are drawn.

75 renderings of one photograph are not 75 independent images, so a resample draws source images
and takes all their renderings with them, jointly across conditions. Treating rows as independent
makes an interval up to sqrt(75) = 8.7 times too narrow.
"""

from __future__ import annotations

import math
from collections import OrderedDict
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

# Draws that are kept, in bytes: those of 50,000 images take 250 MB, and seconds to draw again.
KEPT = 500_000_000

# Sums of whole numbers up to here are exact in float32, and, with room for rounding, in float64.
_BITS_32, _BITS_64 = 24, 52


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

    The draws are kept for the next call over as many images, until :func:`forget_draws`.
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
    draws = _Draws(images, resamples)
    for start in range(0, resamples, _PRODUCT):
        some = drawn[: min(_PRODUCT, resamples - start)]
        draws.fill(some, start)
        sums = (some @ values).astype(np.float64) * step
        if not even:
            rows = (some.astype(counts.dtype, copy=False) @ counts).astype(np.float64) * one
        with np.errstate(invalid="ignore"):
            found[start : start + len(some)] = sums / rows
    return found


# By number of images, four bits a count: image i beside image i + (images + 1) // 2.
_kept: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()


def forget_draws() -> None:
    """Give back the memory of the draws that are kept."""
    _kept.clear()


class _Draws:
    """How often each source image is in each resample: drawn, or as drawn before."""

    def __init__(self, images: int, resamples: int) -> None:
        self._images, self._half = images, (images + 1) // 2
        self._known = _kept.get(images)
        if self._known is not None and len(self._known) < resamples:
            self._known = None
        self._drawn = _resamples(images)
        self._new: NDArray[np.uint8] | None = None
        if self._known is not None:
            _kept.move_to_end(images)
        # Only whole sets of resamples: a few are drawn in no time.
        elif resamples == RESAMPLES and resamples * self._half <= KEPT:
            self._new = np.empty((resamples, self._half), np.uint8)

    def fill(self, some: NDArray[np.floating], start: int) -> None:
        """Write the counts of the resamples from `start` on; calls are in order."""
        half = self._half
        if self._known is not None:
            packed = self._known[start : start + len(some)]
            some[:, :half] = packed & 15
            some[:, half:] = packed[:, : self._images - half] >> 4
            return
        for row, times in enumerate(some, start):
            counts = next(self._drawn)
            times[:] = counts
            if self._new is not None:
                if counts.max() > 15:
                    # One image, drawn sixteen times: such a set is drawn again every time.
                    self._new = None
                    continue
                self._new[row] = counts[:half]
                self._new[row, : self._images - half] |= (counts[half:] << 4).astype(np.uint8)
        if self._new is not None and start + len(some) == len(self._new):
            _keep(self._images, self._new)


def _keep(images: int, drawn: NDArray[np.uint8]) -> None:
    """Keep these draws, and of the others those that were asked for last."""
    _kept[images] = drawn
    while sum(each.nbytes for each in list(_kept.values())) > KEPT:
        _kept.popitem(last=False)


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
