"""Part of a resized image, compiled: Pillow's pixels to the last bit, where they are needed.

The arithmetic is that of Pillow's 8-bit resize (``ImagingResample`` in ``Resample.c``): weights in
float64, divided by their sum and rounded to 22 fractional bits; one pass along rows, then one
along columns; each pass sums in 32 bits from one half and keeps the 8 bits above the fraction.
What differs is the order of the work. Weights, rows and columns outside the wanted part are never
computed, and both passes run over neighbouring bytes with one weight, which the compiler turns into
vector instructions; Pillow computes pixel by pixel.

The first import on a machine compiles for some seconds; the result is kept beside this file.
Which crop needs which part is :mod:`ops.pixels.crop`.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from PIL import Image

from ops.compiled import compiled

_Words = npt.NDArray[np.uint32]
_Bytes = npt.NDArray[np.uint8]
_Sums = npt.NDArray[np.int32]
_Indices = npt.NDArray[np.int64]

# Of a weight. Eight bits of pixel and two for sums beyond 1 fill the 32 (Pillow, Resample.c).
_BITS = 22
_HALF = 1 << (_BITS - 1)
# Rows in one go. Fewer, and LLVM unrolls the loop over them instead of vectorising it.
_BLOCK = 32

_SIGNATURE = numba.void(
    numba.types.Array(numba.uint32, 2, "C", readonly=True),
    *(numba.int64,) * 6,
    numba.boolean,
    numba.types.Array(numba.uint8, 3, "A"),
)


def resample(
    image: Image.Image,
    size: tuple[int, int],
    box: tuple[int, int, int, int],
    cubic: bool,
    out: npt.NDArray[np.uint8],
) -> None:
    """Write ``image.resize(size).crop(box)``, computing nothing else.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode RGB.
    size : (int, int)
        Width and height, in pixels, that the whole image would get.
    box : (int, int, int, int)
        Left, top, right and bottom of the part, in pixels of the resized image and inside it.
    cubic : bool
        Bicubic filter; else bilinear.
    out : uint8 array, shape (bottom - top, right - left, 3)
        Written whole.
    """
    exporter: Any = image
    try:
        # Pillow's own memory, not copied: four bytes a pixel.
        data = pa.array(exporter).values.buffers()[1]
    except ValueError:  # an image over 16 MiB lies in several pieces
        data = image.tobytes("raw", "RGBX")
    pixels = np.frombuffer(data, np.uint32).reshape(image.height, image.width)
    _resample(pixels, *size, *box, cubic, out)


@compiled()
def _weights(
    size: int, to_size: int, start: int, stop: int, cubic: bool
) -> tuple[_Indices, _Indices, _Sums]:
    """First and end inputs of each output from `start` to `stop` of an axis, and their weights."""
    scale = size / to_size
    stretch = max(scale, 1.0)
    reach = stretch * (2.0 if cubic else 1.0)
    inverse = 1.0 / stretch
    first = np.empty(stop - start, np.int64)
    end = np.empty(stop - start, np.int64)
    exact = np.empty(2 * math.ceil(reach) + 1, np.float64)
    weights = np.empty((stop - start, len(exact)), np.int32)
    for i in range(stop - start):
        centre = (start + i + 0.5) * scale
        first[i] = max(int(centre - reach + 0.5), 0)
        end[i] = min(int(centre + reach + 0.5), size)
        total = 0.0
        for j in range(end[i] - first[i]):
            x = abs((first[i] + j - centre + 0.5) * inverse)
            weight = 0.0
            if not cubic:
                weight = max(1.0 - x, 0.0)
            elif x < 1.0:
                weight = (1.5 * x - 2.5) * x * x + 1.0
            elif x < 2.0:
                weight = (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5
            exact[j] = weight
            total += weight
        for j in range(end[i] - first[i]):
            weight = exact[j] / total * (1 << _BITS)
            weights[i, j] = int(weight - 0.5 if weight < 0.0 else weight + 0.5)
    return first, end, weights


# Called once for every few dozen bytes: a call would cost as much as its work.
@compiled(inline=True)
def _mix(lines: _Bytes, weights: _Sums, total: _Sums, out: _Bytes) -> None:
    """Add lines of bytes, each with its weight, into one line; `total` is scratch."""
    total[:] = _HALF
    for j in range(len(lines)):
        line, weight = lines[j], weights[j]
        for i in range(len(total)):
            total[i] += line[i] * weight
    for i in range(len(total)):
        out[i] = min(max(total[i] >> _BITS, 0), 255)


@compiled()
def _along_rows(pixels: _Words, to_width: int, left: int, right: int, cubic: bool) -> _Words:
    """Columns `left` to `right` of the image resized to `to_width`."""
    height, width = pixels.shape
    first, end, weights = _weights(width, to_width, left, right, cubic)
    low, high, count = first[0], end[-1], right - left
    out = np.empty((height, count), np.uint32)
    # Turned by a quarter, block by block: then pixels of one weight are neighbours here as well.
    turned = np.empty((high - low, _BLOCK), np.uint32)
    mixed = np.empty((count, _BLOCK), np.uint32)
    lines, results = turned.view(np.uint8), mixed.view(np.uint8)
    total = np.empty(4 * _BLOCK, np.int32)
    for start in range(0, height, _BLOCK):
        rows = min(_BLOCK, height - start)
        for y in range(rows):
            row = pixels[start + y, low:high]
            for x in range(high - low):
                turned[x, y] = row[x]
        for x in range(count):
            _mix(lines[first[x] - low : end[x] - low], weights[x], total, results[x])
        for y in range(rows):
            row = out[start + y]
            for x in range(count):
                row[x] = mixed[x, y]
    return out


@compiled(_SIGNATURE)
def _resample(
    pixels: _Words,
    to_width: int,
    to_height: int,
    left: int,
    top: int,
    right: int,
    bottom: int,
    cubic: bool,
    out: _Bytes,
) -> None:
    first, end, weights = _weights(pixels.shape[0], to_height, top, bottom, cubic)
    low, high = first[0], end[-1]
    lines = _along_rows(pixels[low:high], to_width, left, right, cubic).view(np.uint8)
    total = np.empty(lines.shape[1], np.int32)
    mixed = np.empty(lines.shape[1], np.uint8)
    for y in range(bottom - top):
        _mix(lines[first[y] - low : end[y] - low], weights[y], total, mixed)
        row = out[y]
        for x in range(right - left):
            row[x, 0], row[x, 1], row[x, 2] = mixed[4 * x], mixed[4 * x + 1], mixed[4 * x + 2]
