"""Gaussian blur, separable, in SciPy's order of operations.

Here: the kernel and the two passes, on float fields and on 8-bit images; gaussian_blur,
glass_blur, spatter and elastic_transform use it. Not here: their sigmas, and OpenCV's gaussian.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import rounding, stored_kernels

Border = Literal["nearest", "reflect"]
_Floats = TypeVar("_Floats", npt.NDArray[np.float32], npt.NDArray[np.float64])

# 1 / 255 in two parts. The first has 40 bits, so that its product with a grey level is exact; the
# sum of both products is then the quotient, rounded once, for a fraction of a division's price.
_PART = float(np.floor(2.0**48 / 255) / 2.0**48)
_REST = float(Fraction(1, 255) - Fraction(_PART))


@lru_cache(maxsize=256)
def gaussian_pairs(sigma: float, truncate: float = 4.0) -> npt.NDArray[np.float64]:
    """Weights of a sampled gaussian, of sum 1, from its middle outwards.

    Parameters
    ----------
    sigma : float
        Standard deviation, in samples.
    truncate : float
        Where the kernel ends, in standard deviations.

    Returns
    -------
    float64 array, shape (radius + 1,)
        The weight of the middle, then of each pair about it; ``radius = int(truncate * sigma +
        0.5)``, as in ``scipy.ndimage.gaussian_filter``. Read-only.

    Notes
    -----
    NumPy's ``exp``, which SciPy takes, has other last bits with AVX-512 than with AVX2. For the
    parameters of the benchmarks these are the weights of the former, as
    :mod:`ops.corruptions.stored_kernels` tells; for all others every exponential and their sum is
    rounded once, which gives weights at most 2 units in the last place from NumPy's.
    """
    stored = stored_kernels.gaussian(sigma, truncate)
    if stored is not None:
        return stored
    radius = int(truncate * float(sigma) + 0.5)
    # As NumPy orders it, but for the exponential and the sum, which it rounds as it can.
    factor = -0.5 / (sigma * sigma)
    heights = [rounding.exp(factor * (offset * offset)) for offset in range(radius + 1)]
    total = math.fsum([heights[0], *heights[1:], *heights[1:]])
    pairs = np.array([height / total for height in heights])
    pairs.setflags(write=False)
    return pairs


def blur_field(
    field: _Floats, sigma: float, *, truncate: float = 4.0, border: Border = "nearest"
) -> _Floats:
    """Blur a field of numbers along its first two axes, first the one and then the other.

    Parameters
    ----------
    field : float32 or float64 array, shape (height, width) or (height, width, channels)
        C-contiguous.
    sigma, truncate : float
        As for `gaussian_pairs`.
    border : "nearest" or "reflect"
        What lies beyond an edge: its last sample, or its mirror image (d c b a | a b c d).

    Returns
    -------
    array
        Of the field's shape and precision; in float64 what ``scipy.ndimage.gaussian_filter``
        gives for it with these weights, to the bit.
    """
    out = np.empty_like(field)
    rows = field.reshape(len(field), -1)
    weights = gaussian_pairs(sigma, truncate).astype(field.dtype)
    one, zero = field.dtype.type(1.0), field.dtype.type(0.0)
    reflect, channels = border == "reflect", field[0, 0].size
    _blur(rows, one, zero, weights, channels, reflect, one, out.reshape(rows.shape))
    return out


def blur_levels(
    image: npt.NDArray[np.uint8], sigma: float, *, truncate: float = 4.0
) -> npt.NDArray[np.uint8]:
    """Blur an 8-bit image on [0, 1], edges repeated, and cut the result to 8 bits again.

    Parameters
    ----------
    image : uint8 array, shape (height, width, channels)
        The image, C-contiguous.
    sigma, truncate : float
        As for `gaussian_pairs`.

    Returns
    -------
    uint8 array
        Of the image's shape: ``uint8(gaussian_filter(image / 255) * 255)``, to the bit. In double
        precision alone: where neighbours are alike the mean is a whole grey level, and its last
        bit decides whether it is cut to the one below.
    """
    out = np.empty_like(image)
    rows = image.reshape(len(image), -1)
    weights = gaussian_pairs(sigma, truncate)
    _blur(rows, _PART, _REST, weights, image.shape[2], False, 255.0, out.reshape(rows.shape))
    return out


@compiled()
def sum_pairs(
    values: npt.NDArray[Any],
    middle: Any,
    lower: npt.NDArray[np.uint64],
    upper: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    total: npt.NDArray[Any],
) -> None:
    """Sum the taps of a row: its middle, then pairs about it from the outermost inwards.

    Parameters
    ----------
    values : float array, shape (any,)
        What is summed.
    middle : uint64
        Where in ``values`` the middle tap of the first sample is; that of the next is beside it.
    lower, upper : uint64 array, shape (pairs,)
        Where the first sample's pairs are, innermost first; a multiple of four. (Unsigned: the
        compiled code then need not ask whether a place counts from the end.)
    weights : float array, shape (pairs + 1,)
        Of the middle and of each pair, 0 for those that only fill up.
    total : float array, shape (samples,)
        Receives the sums.
    """
    n = np.uint64(len(total))
    weight = weights[0]
    if len(lower) == 0:
        for i in range(n):
            total[i] = values[middle + i] * weight
    for pair in range(len(lower) - 4, -1, -4):
        a, b = lower[pair + 3], upper[pair + 3]
        c, d = lower[pair + 2], upper[pair + 2]
        e, f = lower[pair + 1], upper[pair + 1]
        g, h = lower[pair], upper[pair]
        wa, wc, we, wg = weights[pair + 4], weights[pair + 3], weights[pair + 2], weights[pair + 1]
        if pair == len(lower) - 4:
            for i in range(n):
                outer = values[middle + i] * weight + (values[a + i] + values[b + i]) * wa
                inner = (outer + (values[c + i] + values[d + i]) * wc) + (
                    values[e + i] + values[f + i]
                ) * we
                total[i] = inner + (values[g + i] + values[h + i]) * wg
        else:
            for i in range(n):
                outer = total[i] + (values[a + i] + values[b + i]) * wa
                inner = (outer + (values[c + i] + values[d + i]) * wc) + (
                    values[e + i] + values[f + i]
                ) * we
                total[i] = inner + (values[g + i] + values[h + i]) * wg


@compiled()
def _blur(
    source: npt.NDArray[Any],
    part: Any,
    rest: Any,
    weights: npt.NDArray[Any],
    channels: int,
    reflect: bool,
    scale: Any,
    out: npt.NDArray[Any],
) -> None:
    """Blur rows of interleaved channels down the columns and then along each row."""
    height, n = source.shape
    width = n // channels
    radius = len(weights) - 1
    # Pairs of no weight fill the last sweep.
    pairs = -(-radius // 4) * 4
    tap = np.zeros(pairs + 1, weights.dtype)
    tap[: radius + 1] = weights
    # Only the rows in reach are held in floating point. They start on a cache line.
    slots = min(height, 2 * radius + 1)
    rows = np.empty(slots * n + 16, weights.dtype)
    rows = rows[-rows.ctypes.data % 64 // rows.itemsize :]
    line = np.empty((width + 2 * radius) * channels, weights.dtype)
    total = np.empty(n, weights.dtype)
    inner = line[radius * channels : radius * channels + n]
    lower, upper = np.zeros(pairs, np.uint64), np.zeros(pairs, np.uint64)
    left, right = np.zeros(pairs, np.uint64), np.zeros(pairs, np.uint64)
    for pair in range(radius):
        left[pair] = (radius - pair - 1) * channels
        right[pair] = (radius + pair + 1) * channels
    loaded = 0
    for row in range(height):
        while loaded < height and loaded <= row + radius:
            slot = rows[loaded % slots * n : (loaded % slots + 1) * n]
            for i in range(n):
                slot[i] = source[loaded, i] * part + source[loaded, i] * rest
            loaded += 1
        for pair in range(radius):
            up, down = row - pair - 1, row + pair + 1
            if reflect:
                up, down = up % (2 * height), down % (2 * height)
                up, down = min(up, 2 * height - 1 - up), min(down, 2 * height - 1 - down)
            else:
                up, down = max(up, 0), min(down, height - 1)
            lower[pair], upper[pair] = up % slots * n, down % slots * n
        sum_pairs(rows, np.uint64(row % slots * n), lower, upper, tap, inner)
        for column in range(-radius, 0):
            near, far = 0, width - 1
            if reflect:
                near, far = column % (2 * width), (width - 1 - column) % (2 * width)
                near, far = min(near, 2 * width - 1 - near), min(far, 2 * width - 1 - far)
            for channel in range(channels):
                line[(radius + column) * channels + channel] = inner[near * channels + channel]
                edge = (radius + width - 1 - column) * channels + channel
                line[edge] = inner[far * channels + channel]
        sum_pairs(line, np.uint64(radius * channels), left, right, tap, total)
        for i in range(n):
            out[row, i] = total[i] * scale
