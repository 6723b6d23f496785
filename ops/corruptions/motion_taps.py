"""Motion blur as ImageMagick does it: a one-sided gaussian along a line of whole pixels.

Here: the taps and the sum over them, for images of one or several channels; motion_blur, snow and
the sequences made of them use it. Not here: which angles, radii and sigmas they take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.rounding import exp, sin_cos

# Quantum values of ImageMagick's 16-bit build per grey level.
_QUANTA = 257
# Taps added in one sweep over a row: more would spill registers, fewer re-read the sum.
_SWEEP = 8


@dataclass(frozen=True)
class Taps:
    """Where a motion blur looks, and how much of what it sees it takes.

    Parameters
    ----------
    rows, columns : int64 array, shape (taps,)
        Offsets downwards and to the right, in pixels; the first is the pixel itself.
    weights : float64 array, shape (taps,)
        Non-negative, of sum 1.
    """

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    @property
    def margin(self) -> int:
        """Pixels beyond each edge of an image that the taps may touch."""
        return int(max(np.abs(self.rows).max(), np.abs(self.columns).max()))


@dataclass(frozen=True)
class Padded:
    """An image with its edge pixels repeated around it.

    Parameters
    ----------
    values : float32 or float64 array, shape (height + 2 * margin, width + 2 * margin, channels)
        C-contiguous: grey levels in float32, 16-bit quanta in float64.
    margin : int
        Pixels added on each side.
    """

    values: npt.NDArray[Any]
    margin: int


def motion_taps(radius: float, sigma: float, angle: float) -> Taps:
    """Lay the taps of a motion blur along a direction.

    Parameters
    ----------
    radius : float
        Half the number of taps, in pixels: there are ``2 * ceil(radius) + 1``.
    sigma : float
        Standard deviation of the gaussian, in pixels.
    angle : float
        Direction in degrees, clockwise from the right.

    Returns
    -------
    Taps
        As of ImageMagick 6's MotionBlurImage.
    """
    weights = _weights(radius, sigma)
    width = len(weights)
    sine, cosine = sin_cos(math.pi * angle / 180.0)
    down, right = width * sine, width * cosine
    length = math.hypot(down, right)
    return Taps(
        np.array([math.ceil(tap * down / length - 0.5) for tap in range(width)], np.int64),
        np.array([math.ceil(tap * right / length - 0.5) for tap in range(width)], np.int64),
        weights,
    )


@lru_cache(maxsize=256)
def _weights(radius: float, sigma: float) -> npt.NDArray[np.float64]:
    # Sums and quotients in ImageMagick's own order: a last bit decides where half a pixel falls.
    heights = [
        exp(-(float(tap) * tap) / (2.0 * sigma * sigma)) / (math.sqrt(2.0 * math.pi) * sigma)
        for tap in range(2 * math.ceil(radius) + 1)
    ]
    total = 0.0
    for height in heights:
        total += height
    weights = np.array([height / total for height in heights])
    weights.setflags(write=False)
    return weights


def padded_levels(image: npt.NDArray[np.uint8], margin: int) -> Padded:
    """An image's grey levels in float32 with room for taps, as `blur_fast` takes them.

    Parameters
    ----------
    image : uint8 array, shape (height, width) or (height, width, channels)
        The image.
    margin : int
        At least the taps' own margin; one padded image serves many taps.

    Returns
    -------
    Padded
        Of the image.
    """
    return _padded(image, margin, np.float32)


def blur_exact(image: npt.NDArray[np.uint8], taps: Taps) -> npt.NDArray[np.uint8]:
    """Blur as ImageMagick's 16-bit build does, to the bit.

    Parameters
    ----------
    image : uint8 array, shape (height, width) or (height, width, channels)
        The image.
    taps : Taps
        Of the blur.

    Returns
    -------
    uint8 array
        Of the image's shape: ``floor(v + 0.5 / 257)`` of the weighted mean v, for the 16-bit
        result is rounded and its way back to 8 bits truncates.
    """
    padded = _padded(image, taps.margin, np.float64)
    padded.values[...] *= _QUANTA
    return _blur(padded, taps, True).reshape(image.shape)


def blur_fast(padded: Padded, taps: Taps) -> npt.NDArray[np.uint8]:
    """Blur in float32.

    Parameters
    ----------
    padded : Padded
        From `padded_levels`.
    taps : Taps
        Of a margin no larger than the padded image's.

    Returns
    -------
    uint8 array, shape (height, width, channels)
        Within 1 of `blur_exact`, and different on about 2e-5 of the samples.
    """
    return _blur(padded, taps, False)


def _padded(image: npt.NDArray[np.uint8], margin: int, dtype: npt.DTypeLike) -> Padded:
    border = cv2.copyMakeBorder(image, margin, margin, margin, margin, cv2.BORDER_REPLICATE)
    height, width = border.shape[:2]
    return Padded(border.reshape(height, width, -1).astype(dtype), margin)


def _blur(padded: Padded, taps: Taps, quanta: bool) -> npt.NDArray[np.uint8]:
    values, margin = padded.values, padded.margin
    height, width, channels = values.shape
    stride = width * channels
    # Taps of no weight fill the last sweep.
    count = -(-len(taps.weights) // _SWEEP) * _SWEEP
    starts = np.zeros(count, np.uint64)
    starts[: len(taps.weights)] = (margin + taps.rows) * stride + (margin + taps.columns) * channels
    weights = np.zeros(count, values.dtype)
    weights[: len(taps.weights)] = taps.weights
    out = np.empty((height - 2 * margin, width - 2 * margin, channels), np.uint8)
    flat = out.reshape(len(out), -1)
    half = values.dtype.type(0.5 if quanta else 0.5 / _QUANTA)
    _sum_taps(values.reshape(-1), stride, starts, weights, half, quanta, flat)
    return out


@compiled()
def _sum_taps(
    values: npt.NDArray[Any],
    stride: int,
    starts: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    half: Any,
    quanta: bool,
    out: npt.NDArray[np.uint8],
) -> None:
    """Sum the taps of each row, first to last, and store the sum as grey levels."""
    n = np.uint64(out.shape[1])
    total = np.empty(n, values.dtype)
    for row in range(len(out)):
        base = np.uint64(row * stride)
        total[:] = 0
        for tap in range(0, len(starts), 8):
            a, b, c, d = starts[tap], starts[tap + 1], starts[tap + 2], starts[tap + 3]
            e, f, g, h = starts[tap + 4], starts[tap + 5], starts[tap + 6], starts[tap + 7]
            a, b, c, d = base + a, base + b, base + c, base + d
            e, f, g, h = base + e, base + f, base + g, base + h
            wa, wb, wc, wd = weights[tap], weights[tap + 1], weights[tap + 2], weights[tap + 3]
            we, wf, wg, wh = weights[tap + 4], weights[tap + 5], weights[tap + 6], weights[tap + 7]
            for i in range(n):
                near = (total[i] + wa * values[a + i]) + wb * values[b + i]
                near = (near + wc * values[c + i]) + wd * values[d + i]
                far = (near + we * values[e + i]) + wf * values[f + i]
                total[i] = (far + wg * values[g + i]) + wh * values[h + i]
        line = out[row]
        if quanta:
            for i in range(n):
                line[i] = np.uint8(np.floor(total[i] + half) / 257.0)
        else:
            for i in range(n):
                line[i] = np.uint8(total[i] + half)
