"""Gaussian blurs far wider than a pixel, by way of the frequencies.

A field that is mirrored at its edges (d c b a | a b c d) is a sum of cosines (DCT-II), and any
symmetric kernel, a truncated one too, only weighs each of them. That costs the same whatever the
kernel's width. Narrow blurs are in :mod:`ops.corruptions.gaussian`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import fft

from ops.corruptions.gaussian import gaussian_pairs, sum_pairs
from ops.corruptions.rounding import cos_pi

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
_Precision = TypeVar("_Precision", np.float32, np.float64)

# How far apart two ways to blur numbers of [-1, 1] in double precision are taken to be at most.
# A thousand roundings of sums below 0.1 along each axis wander about 2**-50 off; 2**-53 was seen.
_DOUBT = 2.0**-48


def blur_wide(field: Singles, sigma: float, *, truncate: float = 4.0, gain: float = 1.0) -> Singles:
    """Blur a field along both axes in single precision.

    Parameters
    ----------
    field : float32 array, shape (height, width)
        The field.
    sigma, truncate : float
        As of :func:`ops.corruptions.gaussian.gaussian_pairs`.
    gain : float
        What the blurred field is multiplied by.

    Returns
    -------
    float32 array, shape (height, width)
        The blurred field, with an error of a few units in the last place of its largest number.
    """
    weights = _weights(field.shape, sigma, truncate, gain, np.float32)
    return np.asarray(fft.idctn(fft.dctn(field) * weights, overwrite_x=True), np.float32)


def blur_wide_exact(
    field: Doubles, sigma: float, *, truncate: float = 4.0, gain: float = 1.0
) -> Singles:
    """Blur a field in double precision, then round it, as if SciPy had blurred it.

    A row is summed tap by tap in SciPy's order only where the last bits of a sum decide how it is
    rounded.

    Parameters
    ----------
    field : float64 array, shape (height, width)
        Numbers of [-1, 1], C-contiguous.
    sigma, truncate, gain
        As for `blur_wide`.

    Returns
    -------
    float32 array, shape (height, width)
        ``(gaussian_filter(field, sigma, mode="reflect", truncate=truncate) * gain)``, rounded.
    """
    weights = _weights(field.shape, sigma, truncate, 1.0, np.float64)
    blurred = fft.idctn(fft.dctn(field) * weights, overwrite_x=True)
    rounded = np.asarray((blurred * gain).astype(np.float32))
    least, most = ((blurred + doubt) * gain for doubt in (-_DOUBT, _DOUBT))
    doubtful = least.astype(np.float32) != most.astype(np.float32)
    for row in np.flatnonzero(doubtful.any(axis=1)).tolist():
        summed = _blur_row(field, row, gaussian_pairs(sigma, truncate))
        rounded[row] = (summed * gain).astype(np.float32)
    return rounded


@lru_cache(maxsize=32)
def _weights(
    shape: tuple[int, ...], sigma: float, truncate: float, gain: float, precision: type[_Precision]
) -> npt.NDArray[_Precision]:
    """What each cosine of a field is multiplied by, of the field's shape."""
    pairs = gaussian_pairs(sigma, truncate)
    pairs = np.append(pairs[0], 2 * pairs[1:])
    along = [_answers(size, pairs) for size in shape]
    return np.asarray(gain * np.outer(*along), precision)


def _answers(size: int, pairs: Doubles) -> Doubles:
    """What the kernel makes of each cosine along an axis, float64 of shape (size,)."""
    # NumPy's cosine and its matrix product have last bits that depend on the processor.
    turn = np.array([cos_pi(part, size) for part in range(2 * size)])
    total, frequency = np.zeros(size), np.arange(size)
    for offset in range(len(pairs) - 1, -1, -1):
        total += pairs[offset] * turn[offset * frequency % (2 * size)]
    return total


def _blur_row(field: Doubles, row: int, weights: Doubles) -> Doubles:
    """One row of the blurred field, tap by tap, down the columns and then along the row."""
    height, width = field.shape
    radius = len(weights) - 1
    taps = np.append(weights, np.zeros(-radius % 4))  # `sum_pairs` takes four at a time
    away = np.arange(1, len(taps), dtype=np.int64)
    above, below = (
        (_mirrored(row + side * away, height) * width).astype(np.uint64) for side in (-1, 1)
    )
    down = np.empty(width)
    sum_pairs(field.reshape(-1), np.uint64(row * width), above, below, taps, down)
    line = down[_mirrored(np.arange(-len(away), width + len(away)), width)]
    before, after = ((len(away) + side * away).astype(np.uint64) for side in (-1, 1))
    along = np.empty(width)
    sum_pairs(line, np.uint64(len(away)), before, after, taps, along)
    return along


def _mirrored(index: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    index = index % (2 * size)
    return np.minimum(index, 2 * size - 1 - index)
