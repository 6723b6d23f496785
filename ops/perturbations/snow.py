"""Snow: one fall of flakes, blown along a line that turns by four degrees from frame to frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import kernel as corruptions
from ops.corruptions.motion_taps import Taps, blur_exact, blur_fast, motion_taps, padded_levels
from ops.corruptions.snow import flakes, whiteness
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Image, Source

Doubles = npt.NDArray[np.float64]

_LEVELS = np.arange(256) / 255.0


def exact(source: Source, level: Level) -> Frames:
    """In double precision; the flakes are blown as ImageMagick 6 with 16 bits blows them."""
    frames, layer, picture = (
        source.frames(level.frames),
        _layer(source, level),
        _whitened(source, level),
    )
    for out, taps in zip(frames, _winds(level), strict=True):
        _cover(picture, blur_exact(layer, taps), _LEVELS, out.reshape(source.size, -1))
    return frames


def fast(source: Source, level: Level) -> Frames:
    """The same, but blown in single precision from one padded layer."""
    frames, layer, picture = (
        source.frames(level.frames),
        _layer(source, level),
        _whitened(source, level),
    )
    winds = _winds(level)
    padded = padded_levels(layer, max(taps.margin for taps in winds))
    for out, taps in zip(frames, winds, strict=True):
        _cover(picture, blur_fast(padded, taps)[..., 0], _LEVELS, out.reshape(source.size, -1))
    return frames


def _layer(source: Source, level: Level) -> Image:
    return flakes(source.clean.shape[:2], corruptions.Level(level.parameters, level.draws))


def _winds(level: Level) -> list[Taps]:
    radius, sigma = level.parameters["radius"], level.parameters["sigma"]
    return [motion_taps(radius, sigma, angle) for angle in level.sweep("angle")]


def _whitened(source: Source, level: Level) -> Doubles:
    """The picture on [0, 1] before any snow lies on it, float64 of shape (224, 3 * 224)."""
    unit = source.clean.reshape(source.size, -1) / 255.0
    single, white = whiteness(source.clean)
    # The grey picture is of single precision, the coloured one is not.
    mix = level.parameters["mix"]
    return np.asarray(mix * unit + (1 - mix) * np.where(white > single, white, unit))


@compiled()
def _cover(picture: Doubles, layer: Image, levels: Doubles, out: Image) -> None:
    """Add the layer and the layer turned by half a turn, and cut to 8 bits."""
    height, width = layer.shape
    here, turned = np.empty(3 * width), np.empty(3 * width)
    for row in range(height):
        for column in range(width):
            near = levels[layer[row, column]]
            far = levels[layer[height - 1 - row, width - 1 - column]]
            for i in range(3 * column, 3 * column + 3):
                here[i], turned[i] = near, far
        samples, results = picture[row], out[row]
        for i in range(results.size):
            value = samples[i] + here[i] + turned[i]
            results[i] = np.uint8(np.int32(min(value, 1.0) * 255.0))
