"""Brightness: the value in HSV raised from frame to frame, from dark to bright."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Image, Source

Doubles = npt.NDArray[np.float64]


def exact(source: Source, level: Level) -> Frames:
    """In double precision, in scikit-image's order of operations.

    Hue and saturation stay, so each sample is the value times a factor of its own: the factors
    are computed once for all frames.
    """
    frames = source.frames(level.frames)
    added = np.array(level.sweep("percent")) / 100.0
    _brighten(source.clean, added, frames.reshape(level.frames, source.size, -1))
    return frames


fast = exact


@compiled()
def _brighten(pixels: Image, added: Doubles, out: Image) -> None:
    values, factors = np.empty(out.shape[2]), np.empty(out.shape[2])
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            red = pixels[row, column, 0] / 255.0
            green = pixels[row, column, 1] / 255.0
            blue = pixels[row, column, 2] / 255.0
            value = max(red, green, blue)
            spread = value - min(red, green, blue)
            saturation = 0.0
            hue = 0.0
            if spread > 0.0:
                saturation = spread / value
                # Where two channels are the greatest, the later one counts.
                if blue == value:
                    hue = 4.0 + (red - green) / spread
                elif green == value:
                    hue = 2.0 + (blue - red) / spread
                else:
                    hue = (green - blue) / spread
                hue /= 6.0
                if hue < 0.0:
                    hue += 1.0
            sector = np.floor(hue * 6)
            fraction = hue * 6 - sector
            low = 1 - saturation
            falling = 1 - fraction * saturation
            rising = 1 - (1 - fraction) * saturation
            which = int(sector)
            if which == 0 or which == 6:
                red, green, blue = 1.0, rising, low
            elif which == 1:
                red, green, blue = falling, 1.0, low
            elif which == 2:
                red, green, blue = low, 1.0, rising
            elif which == 3:
                red, green, blue = low, falling, 1.0
            elif which == 4:
                red, green, blue = rising, low, 1.0
            else:
                red, green, blue = 1.0, low, falling
            start = 3 * column
            values[start : start + 3] = value
            factors[start], factors[start + 1], factors[start + 2] = red, green, blue
        for frame in range(len(added)):
            results = out[frame, row]
            addend = added[frame]
            for i in range(results.size):
                value = min(max(values[i] + addend, 0.0), 1.0)
                results[i] = np.uint8(np.int32(value * factors[i] * 255.0))
