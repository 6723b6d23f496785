"""How much a neighbour looks like its anchor: four cheap numbers, each for a reason to reject it.

They order what people look at; they decide nothing. Plain structural similarity would be a bad
one: it calls a pan by one per cent as different as a cut, because fine texture no longer lies on
itself. Motion is therefore measured by itself, and taken back before structure is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
_Floats = npt.NDArray[np.float32]

SHORT_SIDE = 256
# The coarsest pyramid of the flow wants some patches of 8 pixels on either side.
_LEAST_SIDE = 64
_BINS = 8
_DIGITS = 4
# Wang et al. 2004: (0.01 * 255)^2 and (0.03 * 255)^2, a Gaussian window of 1.5 pixels.
_C1, _C2 = 6.5025, 58.5225
_SIGMA = 1.5


@dataclass(frozen=True)
class Similarity:
    """Of a neighbour to its anchor, in [0, 1], 1 is the same; rounded to four digits.

    Attributes
    ----------
    displacement : float
        One minus the 90th percentile of the optical flow, in shares of the shorter side.
    structure : float
        Mean structural similarity after the flow is taken back; negative values count as 0.
    blur : float
        Ratio of the variances of the Laplacian, the smaller over the larger.
    histogram : float
        Overlap of the colour histograms, of eight bins a channel.
    """

    displacement: float
    structure: float
    blur: float
    histogram: float


@dataclass(frozen=True)
class Look:
    """What is kept of a picture to compare it: a small copy, in colour and in grey."""

    colour: Pixels
    grey: Pixels
    sharpness: float
    histogram: npt.NDArray[np.float64]

    @cached_property
    def moments(self) -> tuple[_Floats, _Floats, _Floats]:
        """The grey picture in floats, its local mean and variance; an anchor needs them often."""
        return _moments(self.grey)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep OpenCV to one thread: the workers are what runs in parallel.

    The flow is also computed in stripes, whose number must not depend on the machine.
    """
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def look(pixels: Pixels) -> Look:
    """Reduce a picture to what the comparison needs.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
        RGB.
    """
    colour = _shrunk(pixels)
    grey = cast(Pixels, cv2.cvtColor(colour, cv2.COLOR_RGB2GRAY))
    sharpness = float(cv2.Laplacian(grey, cv2.CV_64F).var())
    counts = cv2.calcHist([colour], [0, 1, 2], None, [_BINS] * 3, [0, 256] * 3)
    return Look(colour, grey, sharpness, counts.astype(np.float64).ravel() / grey.size)


def compare(anchor: Look, other: Look) -> Similarity:
    """Compare a neighbour with its anchor.

    Returns
    -------
    Similarity
    """
    grey = other.grey
    if grey.shape != anchor.grey.shape:
        # The picture changes its size in mid-video.
        height, width = anchor.grey.shape
        grey = cast(Pixels, cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA))
    flow = _flow(anchor.grey, grey)
    moved = float(np.percentile(np.hypot(flow[..., 0], flow[..., 1]), 90))
    return Similarity(
        displacement=_share(1.0 - moved / min(grey.shape)),
        structure=_share(_structure(anchor, _moved_back(grey, flow))),
        blur=_share(_ratio(anchor.sharpness, other.sharpness)),
        histogram=_share(float(np.minimum(anchor.histogram, other.histogram).sum())),
    )


def _shrunk(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    short = min(height, width)
    if _LEAST_SIDE <= short <= SHORT_SIDE:
        return pixels
    scale = (SHORT_SIDE if short > SHORT_SIDE else _LEAST_SIDE) / short
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    whole = short // SHORT_SIDE
    if whole > 1:
        # Means of whole squares of pixels are eight times as fast as those of any other share.
        smaller = (width // whole, height // whole)
        pixels = cast(Pixels, cv2.resize(pixels, smaller, interpolation=cv2.INTER_AREA))
    return cast(Pixels, cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR))


def _flow(first: Pixels, second: Pixels) -> _Floats:
    """Where each pixel of the first picture lies in the second, as (dx, dy)."""
    # Made anew each time: it may start from the last flow it found.
    dis: Any = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    return cast(_Floats, dis.calc(first, second, None))


def _moved_back(grey: Pixels, flow: _Floats) -> Pixels:
    height, width = grey.shape
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    x, y = x + flow[..., 0], y + flow[..., 1]
    back = cv2.remap(grey, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return cast(Pixels, back)


def _structure(first: Look, second: Pixels) -> float:
    """Mean SSIM of two grey pictures."""
    a, mean_a, var_a = first.moments
    b, mean_b, var_b = _moments(second)
    both = _smooth(a * b) - mean_a * mean_b
    luminance = (2 * mean_a * mean_b + _C1) / (mean_a**2 + mean_b**2 + _C1)
    return float((luminance * (2 * both + _C2) / (var_a + var_b + _C2)).mean(dtype=np.float64))


def _moments(grey: Pixels) -> tuple[_Floats, _Floats, _Floats]:
    """A picture, and its mean and variance around every pixel."""
    values = grey.astype(np.float32)
    mean = _smooth(values)
    return values, mean, _smooth(values * values) - mean**2


def _smooth(values: _Floats) -> _Floats:
    return cast(_Floats, cv2.GaussianBlur(values, (11, 11), _SIGMA))


def _ratio(first: float, second: float) -> float:
    larger = max(first, second)
    return 1.0 if larger == 0 else min(first, second) / larger


def _share(value: float) -> float:
    # Rounded: processors differ in the last digits of a float.
    return round(min(max(value, 0.0), 1.0), _DIGITS)
