"""Affine warps as OpenCV 2 to 4 computed them.

OpenCV 5 samples at the exact place; its predecessors, which made ImageNet-C, at the nearest 1/32
of a pixel, in fixed point. This is their arithmetic, so that results do not depend on which
OpenCV is installed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.four_lanes import weigh_four

Singles = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int32]

# Fractional bits of a coordinate while it is summed, and of the place that is sampled.
SUM_BITS = 10
PLACE_BITS = 5


def warp_affine(image: Singles, matrix: npt.NDArray[np.float64], out: Singles) -> None:
    """Warp an image; beyond its edges it is mirrored about its outermost pixels.

    Parameters
    ----------
    image : float32 array, shape (height, width, 4)
        Four channels, of which one may be idle: they fill one vector register.
    matrix : float64 array, shape (2, 3)
        Takes (x, y, 1) of the image to (x, y) of the result.
    out : float32 array, shape (height, width, 4)
        Receives ``cv2.warpAffine(image, matrix, (width, height),
        borderMode=cv2.BORDER_REFLECT_101)`` of OpenCV 2 to 4, bit for bit.
    """
    height, width, _ = image.shape
    back = _inverse(matrix) * (1 << SUM_BITS)
    columns = np.rint(back[:, :1] * np.arange(width)).astype(np.int32)
    rows = np.rint(back[:, 1:2] * np.arange(height) + back[:, 2:]).astype(np.int32)
    _warp(image.reshape(-1), columns[0], columns[1], rows[0], rows[1], out.reshape(-1))


def _inverse(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The way back, by OpenCV's own sequence of roundings."""
    (a, b, c), (d, e, f) = matrix.tolist()
    determinant = a * e - b * d
    scale = 1.0 / determinant if determinant else 0.0
    a, e = e * scale, a * scale
    b, d = b * -scale, d * -scale
    return np.array([[a, b, -a * c - b * f], [d, e, -d * c - e * f]])


@compiled()
def _warp(
    image: Singles, across: Whole, down: Whole, across_row: Whole, down_row: Whole, out: Singles
) -> None:
    """Sample each pixel: its place is the sum of a column's part and a row's."""
    width, height = len(across), len(across_row)
    one = np.float32(1.0)
    ones = (one, one, one, one)
    half_step = 1 << (SUM_BITS - PLACE_BITS - 1)
    steps = 1 << PLACE_BITS
    for row in range(height):
        for column in range(width):
            x = (across_row[row] + across[column] + half_step) >> (SUM_BITS - PLACE_BITS)
            y = (down_row[row] + down[column] + half_step) >> (SUM_BITS - PLACE_BITS)
            right = np.float32(x & (steps - 1)) / np.float32(steps)
            lower = np.float32(y & (steps - 1)) / np.float32(steps)
            x, y = x >> PLACE_BITS, y >> PLACE_BITS
            if x >= 0 and x < width - 1 and y >= 0 and y < height - 1:
                corner = 4 * (y * width + x)
                starts = (corner, corner + 4, corner + 4 * width, corner + 4 * width + 4)
            else:
                x, after = _mirrored(x, width), _mirrored(x + 1, width)
                y, below = width * _mirrored(y, height), width * _mirrored(y + 1, height)
                starts = (4 * (y + x), 4 * (y + after), 4 * (below + x), 4 * (below + after))
            left, upper = one - right, one - lower
            weights = (upper * left, upper * right, lower * left, lower * right)
            weigh_four(image, starts, weights, ones, out, 4 * (row * width + column))


@compiled()
def _mirrored(place: int, size: int) -> int:
    while place < 0 or place >= size:
        place = -place if place < 0 else 2 * (size - 1) - place
    return place
