"""Fog: a cloud map added to the picture, which is then darkened back to its own maximum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.diamond_square import heights
from ops.corruptions.kernel import Image, Level
from ops.corruptions.unit_interval import uniform32

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


def exact(image: Image, level: Level) -> Image:
    """Fog in double precision.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``strength``, ``decay`` and ``map_size`` (side of the cloud map, of which the
        top left is used; a power of two). Draws the map's uniform numbers.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The picture in fog.
    """
    size, strength = level.parameters["map_size"], level.parameters["strength"]
    uniform = level.draws.uniform("heights", 0.0, 1.0, (size * size - 1,))
    cloud = heights(uniform, size, level.parameters["decay"])
    low = cloud.min()
    out = np.empty_like(image)
    brightest = image.max() / 255.0
    span = cloud.max() - low
    rows = len(image)
    _cover(image.reshape(rows, -1), cloud, low, span, brightest, strength, out.reshape(rows, -1))
    return out


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Fog in single precision.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    levels : sequence of Level
        As for `exact`.

    Returns
    -------
    list of uint8 arrays, shape (height, width, 3)
        One for each level.
    """
    brightest = image.max() / 255.0
    outputs = []
    for level in levels:
        size, strength = level.parameters["map_size"], level.parameters["strength"]
        uniform = uniform32(level.draws, "heights", size * size - 1)
        cloud = heights(uniform, size, level.parameters["decay"])
        low, high = float(cloud.min()), float(cloud.max())
        darkened = brightest / (brightest + strength)
        gain = 255.0 * strength * darkened / (high - low)
        out = np.empty_like(image)
        numbers = np.array([darkened, low, gain], np.float32)
        _cover_fast(image.reshape(len(image), -1), cloud, numbers, out.reshape(len(out), -1))
        outputs.append(out)
    return outputs


@compiled()
def _cover(
    image: Image,
    cloud: Doubles,
    low: float,
    span: float,
    brightest: float,
    strength: float,
    out: Image,
) -> None:
    height, width = len(image), image.shape[1] // 3
    thickness = np.empty(3 * width)
    for y in range(height):
        clear, foggy = image[y], out[y]
        for x in range(width):
            added = strength * ((cloud[y, x] - low) / span)
            thickness[3 * x], thickness[3 * x + 1], thickness[3 * x + 2] = added, added, added
        for i in range(len(clear)):
            seen = (clear[i] / 255.0 + thickness[i]) * brightest / (brightest + strength)
            foggy[i] = np.uint8(min(seen, 1.0) * 255.0)


@compiled()
def _cover_fast(image: Image, cloud: Singles, numbers: Singles, out: Image) -> None:
    darkened, low, gain = numbers
    height, width = len(image), image.shape[1] // 3
    thickness = np.empty(3 * width, np.float32)
    for y in range(height):
        clear, foggy = image[y], out[y]
        for x in range(width):
            added = (cloud[y, x] - low) * gain
            thickness[3 * x], thickness[3 * x + 1], thickness[3 * x + 2] = added, added, added
        for i in range(len(clear)):
            foggy[i] = np.uint8(np.float32(clear[i]) * darkened + thickness[i])
