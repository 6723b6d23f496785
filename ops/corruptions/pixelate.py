"""Large pixels: averaged down by a box filter, then repeated up to the size before.

The arithmetic is that of Pillow's 8-bit resampling: columns first, then rows, each pass rounded
to 8 bits; a box weighs its pixels alike, with one 22-bit fixed-point weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.kernel import Image, Level

WEIGHT_BITS = 22


# Unsigned: the compiled code then need not ask whether an index counts from the end.
Indices = npt.NDArray[np.uint32]
Rows = npt.NDArray[np.uint8]
Weights = npt.NDArray[np.int32]


def exact(image: Image, level: Level) -> Image:
    """Pillow's ``resize`` with a box filter, down and up again.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB, square.
    level : Level
        Parameter ``scale``: the small side over the large one, truncated to whole pixels.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The pixelated picture.
    """
    side = int(len(image) * level.parameters["scale"])
    height, width, _ = image.shape
    small = np.empty((height, 3 * side), np.uint8)
    out = np.empty_like(image)
    boxes = (*boxes_of(height, side), *boxes_of(width, side))
    _pixelate(image.reshape(height, -1), *boxes, small, out.reshape(height, -1))
    return out


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same: whole numbers throughout."""
    return [exact(image, level) for level in levels]


@lru_cache(maxsize=64)
def boxes_of(size: int, side: int) -> tuple[Indices, Indices, Weights, Indices]:
    """Which samples of ``size`` make each of ``side``, and which of those each is made of again.

    Returns
    -------
    first, count : uint32 arrays, shape (side,)
        The box of each small sample.
    weight : int32 array, shape (side,)
        What each sample in the box weighs, in fixed point.
    nearest : uint32 array, shape (size,)
        The small sample that is repeated at each place; ascending.
    """
    scale = size / side
    centre = (np.arange(side) + 0.5) * scale
    # Pillow's own two tests, each with its rounding: they decide where a sample is on an edge.
    first = (centre - scale / 2 + 0.5).astype(np.int64)
    stop = (centre + scale / 2 + 0.5).astype(np.int64)
    first += (first - centre + 0.5) * (1 / scale) <= -0.5
    stop -= (stop - 1 - centre + 0.5) * (1 / scale) > 0.5
    weight = np.floor((1 << WEIGHT_BITS) / (stop - first) + 0.5)
    nearest = (np.arange(size) + 0.5) * (side / size)
    return (
        first.astype(np.uint32),
        (stop - first).astype(np.uint32),
        weight.astype(np.int32),
        nearest.astype(np.uint32),
    )


@compiled()
def _pixelate(
    image: Rows,
    top: Indices,
    rows: Indices,
    row_weight: Weights,
    nearest_row: Indices,
    left: Indices,
    columns: Indices,
    column_weight: Weights,
    nearest_column: Indices,
    small: Rows,
    out: Rows,
) -> None:
    """Average columns into ``small``, then its rows into the rows of ``out``."""
    one, two, three = np.uint32(1), np.uint32(2), np.uint32(3)
    half = np.int32(1 << (WEIGHT_BITS - 1))
    for y in range(len(image)):
        samples, narrow = image[y], small[y]
        k = np.uint32(0)
        for i in range(len(left)):
            j = three * left[i]
            red, green, blue = np.int32(0), np.int32(0), np.int32(0)
            for _ in range(columns[i]):
                red += np.int32(samples[j])
                green += np.int32(samples[j + one])
                blue += np.int32(samples[j + two])
                j += three
            weight = column_weight[i]
            narrow[k] = (red * weight + half) >> WEIGHT_BITS
            narrow[k + one] = (green * weight + half) >> WEIGHT_BITS
            narrow[k + two] = (blue * weight + half) >> WEIGHT_BITS
            k += three
    n = small.shape[1]
    total = np.empty(n, np.int32)  # at most 255 * 2**22
    y = 0
    for i in range(len(top)):
        for sample in range(n):
            total[sample] = half
        for row in range(top[i], top[i] + rows[i]):
            samples = small[row]
            for sample in range(n):
                total[sample] += np.int32(samples[sample]) * row_weight[i]
        mean = small[i]  # its samples are in the sums already
        for sample in range(n):
            mean[sample] = total[sample] >> WEIGHT_BITS
        first = out[y]
        k = np.uint32(0)
        for nearest in nearest_column:
            j = three * nearest
            first[k] = mean[j]
            first[k + one] = mean[j + one]
            first[k + two] = mean[j + two]
            k += three
        y += 1
        while y < len(out) and nearest_row[y] == i:
            again = out[y]
            for sample in range(len(again)):
                again[sample] = first[sample]
            y += 1
