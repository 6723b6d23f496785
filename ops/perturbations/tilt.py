"""Tilt: the picture turned in space about both its axes, a degree from frame to frame.

The arithmetic is that of OpenCV 4 (and 3), which ImageNet-P was made with: positions in 32nds of a
pixel, weights of ten bits. OpenCV 5 interpolates at unrounded positions: it gives up to 4 levels
less or more, on a tenth of the samples. Which OpenCV is installed makes no difference here.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.neighbours import fetch, spread
from ops.perturbations.source import Image, Source, Words

Doubles = npt.NDArray[np.float64]


def exact(source: Source, level: Level) -> Frames:
    """Bit for bit what ``cv2.warpPerspective`` of OpenCV 4 gives."""
    frames = source.frames(level.frames)
    for out, angle in zip(frames, level.sweep("angle"), strict=True):
        inverse = inverse_projection(source.height, source.width, angle)
        _warp(source.blackened, inverse, source.top, source.left, out)
    return frames


fast = exact


def inverse_projection(height: int, width: int, angle: float) -> Doubles:
    """The map from a point of the result to the point of the picture it shows.

    Parameters
    ----------
    height, width : int
        Of the picture, in pixels.
    angle : float
        Of the picture's turn about its vertical, then its horizontal axis, in degrees.

    Returns
    -------
    float64 array, shape (9,)
        The rows of a matrix for homogeneous points ``(x, y, 1)``.
    """
    return _inverse(_projection(height, width, math.radians(angle)))


def _projection(height: int, width: int, angle: float) -> Doubles:
    """Camera matrix of the turned picture, float64 of shape (3, 3).

    The plane starts at a distance of one pixel, which the focal length, the picture's diagonal,
    then pushes away: that is how the original places it.
    """
    focal = math.sqrt(width**2 + height**2)
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y = width / 2, height / 2
    # Rows of the turned plane's x, y and depth for (column, row, 1).
    across = np.array([cosine, 0.0, cosine * -x - sine])
    depth = np.array([sine, 0.0, sine * -x + cosine])
    along = np.array([-sine * depth[0], cosine, cosine * -y - sine * depth[2]])
    depth = np.array([cosine * depth[0], sine, sine * -y + cosine * depth[2] + focal])
    return np.stack([focal * across + x * depth, focal * along + y * depth, depth])


def _inverse(matrix: Doubles) -> Doubles:
    """Inverse by cofactors, in an order that no library changes; float64 of shape (9,)."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    cofactors = [
        e * i - f * h,
        c * h - b * i,
        b * f - c * e,
        f * g - d * i,
        a * i - c * g,
        c * d - a * f,
        d * h - e * g,
        b * g - a * h,
        a * e - b * d,
    ]
    determinant = a * cofactors[0] + b * cofactors[3] + c * cofactors[6]
    inverse: Doubles = np.array(cofactors) * (1.0 / determinant)
    return inverse


@compiled()
def _warp(words: Words, inverse: Doubles, top: int, left: int, out: Image) -> None:
    """Row by row: where to look, the four pixels there, their mean."""
    height, width = words.shape[0] - 3, words.shape[1] - 3
    stride = words.shape[1]
    flat = words.reshape(-1)
    n = out.shape[1]
    place = np.empty(n, np.int32)
    right, down = np.empty(n, np.int32), np.empty(n, np.int32)
    near = np.empty((4, n), np.uint32)
    mixed = np.empty(n, np.uint32)
    for row in range(out.shape[0]):
        y = np.float64(top + row)
        for i in range(n):
            # OpenCV starts anew every 64 columns, which decides the last bit.
            block = np.float64((left + i) & ~63)
            x = np.float64((left + i) & 63)
            across = inverse[0] * block + inverse[1] * y + inverse[2] + inverse[0] * x
            along = inverse[3] * block + inverse[4] * y + inverse[5] + inverse[3] * x
            depth = inverse[6] * block + inverse[7] * y + inverse[8] + inverse[6] * x
            per_pixel = 32.0 / depth
            column = np.int32(np.rint(across * per_pixel))
            line = np.int32(np.rint(along * per_pixel))
            right[i], down[i] = column & 31, line & 31
            column, line = column >> 5, line >> 5
            # The picture lies in black: one pixel before its first, two after its last.
            beyond = (column < -1) | (column > width) | (line < -1) | (line > height)
            place[i] = -1 if beyond else (line + 1) * stride + column + 1
        fetch(flat, stride, place, near)
        for i in range(n):
            to_right, to_down = right[i], down[i]
            word = np.uint32(0)
            for shift in (np.uint32(0), np.uint32(8), np.uint32(16)):
                p = np.int32((near[0, i] >> shift) & np.uint32(255))
                q = np.int32((near[1, i] >> shift) & np.uint32(255))
                r = np.int32((near[2, i] >> shift) & np.uint32(255))
                s = np.int32((near[3, i] >> shift) & np.uint32(255))
                upper = p * (32 - to_right) + q * to_right
                lower = r * (32 - to_right) + s * to_right
                mean = (upper * (32 - to_down) + lower * to_down + 512) >> 10
                word |= np.uint32(mean) << shift
            mixed[i] = word
        spread(mixed, out[row])
