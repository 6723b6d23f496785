"""Snow: flakes blurred along the wind, twice, over a picture that is whitened first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import laws
from ops.corruptions.clipped_zoom import clipped_zoom, zoom_axis
from ops.corruptions.kernel import Image, Level
from ops.corruptions.keyed import Keyed
from ops.corruptions.motion_taps import Taps, blur_exact, blur_fast, motion_taps, padded_levels

Singles = npt.NDArray[np.float32]
Layer = npt.NDArray[np.uint8]


def exact(image: Image, level: Level) -> Image:
    """Snow as the official implementation makes it.

    Parameters
    ----------
    image : uint8 array, shape (size, size, 3)
        RGB.
    level : Level
        Parameters ``mean``, ``std`` (of the flakes' normal numbers), ``zoom``, ``threshold``
        (below it there is no flake), ``radius`` and ``sigma`` (of the wind's blur, in pixels) and
        ``mix`` (how much of the picture is not whitened). Draws the normal numbers, then the
        wind's angle from [-135, -45) degrees.

    Returns
    -------
    uint8 array, shape (size, size, 3)
        The picture in snow.
    """
    layer = blur_exact(flakes(image.shape[:2], level), wind(level))
    return _under(layer, *whiteness(image), level)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same but for the blur, which is summed in single precision.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    levels : sequence of Level
        As for `exact`.

    Returns
    -------
    list of uint8 arrays, shape (size, size, 3)
        One for each level.
    """
    unit, white = whiteness(image)
    outputs = []
    for level in levels:
        layer, taps = flakes(image.shape[:2], level), wind(level)
        blown = blur_fast(padded_levels(layer, taps.margin), taps)[..., 0]
        outputs.append(_under(blown, unit, white, level))
    return outputs


def flakes(shape: tuple[int, int], level: Level) -> Layer:
    """Flakes before the wind, in grey levels.

    Parameters
    ----------
    shape : tuple of int
        Of the picture, which is square.
    level : Level
        As for `exact`; draws the normal numbers.

    Returns
    -------
    uint8 array, shape (size, size)
        0 where there is no flake.
    """
    given = level.parameters
    out = np.empty(shape, np.uint8)
    heights = clipped_zoom(_heights(shape, level), given["zoom"])
    _threshold(heights, given["threshold"], out)
    return out


def wind(level: Level) -> Taps:
    """The taps of the wind's blur; draws its angle."""
    angle = float(level.draws.uniform("angle", -135.0, -45.0, ()))
    return motion_taps(level.parameters["radius"], level.parameters["sigma"], angle)


def whiteness(image: Image) -> tuple[Singles, Singles]:
    """A picture on [0, 1], and what it is whitened towards.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.

    Returns
    -------
    unit, white : float32 arrays, shape (height, 3 * width)
        The picture, and the larger of it and of its grey times 1.5 plus 0.5.
    """
    height, width, _ = image.shape
    unit = np.empty((height, 3 * width), np.float32)
    white = np.empty_like(unit)
    luma = np.array([0.299, 0.587, 0.114], np.float32)
    _whiteness(image.reshape(height, -1), luma, unit, white)
    return unit, white


def _under(layer: Layer, unit: Singles, white: Singles, level: Level) -> Image:
    """Lay flakes, and the same turned by 180 degrees, over a whitened picture."""
    height, width = layer.shape
    out = np.empty((height, width, 3), np.uint8)
    mix = level.parameters["mix"]
    weights = np.array([mix, 1 - mix], np.float32)
    _cover(layer, unit, white, weights, out.reshape(height, -1))
    return out


def _heights(shape: tuple[int, int], level: Level) -> npt.NDArray[np.float64]:
    """The normal numbers; keyed ones only in the middle, which is all that the zoom shows."""
    given, draws = level.parameters, level.draws
    if not isinstance(draws, Keyed):
        return draws.normal("layer", given["mean"], given["std"], shape)
    kept = zoom_axis(shape[0], given["zoom"])
    middle = slice(int(kept.first[0]), int(kept.next[-1]) + 1)
    halves = draws.halves("layer", shape[0] * shape[1]).reshape(shape)[middle, middle]
    heights = np.zeros(shape)
    heights[middle, middle] = given["mean"] + given["std"] * laws.normal()[halves]
    return heights


@compiled()
def _threshold(heights: npt.NDArray[np.float64], threshold: float, out: Layer) -> None:
    for y in range(len(out)):
        for x in range(len(out[0])):
            height = heights[y, x]
            lying = min(max(height, 0.0), 1.0) if height >= threshold else 0.0
            out[y, x] = np.uint8(lying * 255.0)


@compiled()
def _whiteness(image: Layer, luma: Singles, unit: Singles, white: Singles) -> None:
    red, green, blue = luma
    for y in range(len(image)):
        samples, line, target = image[y], unit[y], white[y]
        for i in range(len(line)):
            line[i] = np.float32(samples[i]) / np.float32(255.0)
        for i in range(0, len(line), 3):
            # OpenCV's order, with its two fused multiply-adds made of a product that a double
            # holds exactly: grey pictures meet whole grey levels below, where the last bit tells.
            inner = np.float64(line[i]) * red + np.float64(line[i + 1] * green)
            grey = np.float32(np.float64(line[i + 2]) * blue + np.float64(np.float32(inner)))
            bright = grey * np.float32(1.5) + np.float32(0.5)
            for k in range(i, i + 3):
                target[k] = max(line[k], bright)


@compiled()
def _cover(layer: Layer, unit: Singles, white: Singles, weights: Singles, out: Layer) -> None:
    keep, whiten = weights
    height, width = layer.shape
    snow = np.empty(3 * width, np.int32)
    for y in range(height):
        here, turned = layer[y], layer[height - 1 - y]
        for x in range(width):
            fallen = np.int32(here[x]) + np.int32(turned[width - 1 - x])
            snow[3 * x], snow[3 * x + 1], snow[3 * x + 2] = fallen, fallen, fallen
        clear, target, line = unit[y], white[y], out[y]
        for i in range(3 * width):
            # The flakes are whole grey levels: cutting the sum cuts the picture alone. Its level
            # is never whole in single precision (but 255), so no later rounding can lift it.
            level = np.float64(keep * clear[i] + whiten * target[i]) * 255.0
            line[i] = min(np.int32(level) + snow[i], 255)
