"""Affine maps of the picture about its middle, with bilinear interpolation as Pillow does it.

Here: the map from a frame's pixels to the picture's, and the interpolation; rotate, scale, shear
and zoom_blur use them. The map is that of torchvision's ``functional.affine`` for Pillow images
with the middle at (width / 2, height / 2), where torchvision has had it since 0.9 (before, half a
pixel further); the interpolation is Pillow's ``Image.transform`` in double precision, truncated,
black beyond the edge. Only the frame is computed, not the margins that are cut off.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.perturbations.neighbours import fetch, spread
from ops.perturbations.source import Image, Source, Words

Doubles = npt.NDArray[np.float64]


def inverse_map(
    height: int, width: int, *, angle: float = 0.0, scale: float = 1.0, shear: float = 0.0
) -> Doubles:
    """The affine map from a point of the result to the point of the picture it shows.

    Parameters
    ----------
    height, width : int
        Of the picture, in pixels.
    angle, shear : float
        Degrees, clockwise.
    scale : float
        Magnification.

    Returns
    -------
    float64 array, shape (6,)
        ``(a, b, c, d, e, f)``: the point ``(a x + b y + c, d x + e y + f)`` for ``(x, y)``.
    """
    turn, lean = math.radians(angle), math.radians(shear)
    cosine, sine, slope = math.cos(turn), math.sin(turn), math.tan(lean)
    a, b = (cosine - sine * slope) / scale, (cosine * slope + sine) / scale
    d, e = -sine / scale, cosine / scale
    x, y = width * 0.5, height * 0.5
    return np.array([a, b, a * -x + b * -y + x, d, e, d * -x + e * -y + y])


def warp(source: Source, inverse: Doubles, out: Image) -> None:
    """Write the centre of a warped picture.

    Parameters
    ----------
    source : Source
        The picture.
    inverse : float64 array, shape (6,)
        From `inverse_map`.
    out : uint8 array, shape (224, 224, 3)
        Written whole.
    """
    _warp(source.repeated, inverse, source.top, source.left, out)


@compiled()
def _warp(words: Words, inverse: Doubles, top: int, left: int, out: Image) -> None:
    """Row by row: where to look, the four pixels there, their mean."""
    height, width = words.shape[0] - 2, words.shape[1] - 2
    stride = words.shape[1]
    flat = words.reshape(-1)
    a, b, c = inverse[0], inverse[1], inverse[2]
    d, e, f = inverse[3], inverse[4], inverse[5]
    n = out.shape[1]
    place = np.empty(n, np.int32)
    right, down = np.empty(n), np.empty(n)
    near = np.empty((4, n), np.uint32)
    mixed = np.empty(n, np.uint32)
    for row in range(out.shape[0]):
        seen = 0
        y = (top + row) + 0.5
        for i in range(n):
            x = (left + i) + 0.5
            column = a * x + b * y + c
            line = d * x + e * y + f
            inside = (column >= 0.0) & (column < width) & (line >= 0.0) & (line < height)
            column = column - 0.5 if inside else 0.0
            line = line - 0.5 if inside else 0.0
            whole_column, whole_line = np.int32(column), np.int32(line)
            whole_column -= column < whole_column
            whole_line -= line < whole_line
            right[i], down[i] = column - whole_column, line - whole_line
            # The picture lies in a frame of one pixel.
            at = (whole_line + 1) * stride + whole_column + 1
            place[i] = at if inside else -1
            seen += inside
        results = out[row]
        if seen == 0:
            results[:] = 0
            continue
        fetch(flat, stride, place, near)
        for i in range(n):
            to_right, to_down = right[i], down[i]
            word = np.uint32(0)
            for shift in (np.uint32(0), np.uint32(8), np.uint32(16)):
                p = np.float64(np.int32((near[0, i] >> shift) & np.uint32(255)))
                q = np.float64(np.int32((near[1, i] >> shift) & np.uint32(255)))
                r = np.float64(np.int32((near[2, i] >> shift) & np.uint32(255)))
                s = np.float64(np.int32((near[3, i] >> shift) & np.uint32(255)))
                upper = p + (q - p) * to_right
                lower = r + (s - r) * to_right
                word |= np.uint32(np.int32(upper + (lower - upper) * to_down)) << shift
            mixed[i] = word
        spread(mixed, results)
