"""Saturation and value of HSV changed in double precision, the hue kept.

Each channel is ``value * (1 - weight * saturation)``: the weight is 0 for the greatest channel, 1
for the least and hangs on the hue alone for the third, so that it is found once for all changes.
The order of operations is that of scikit-image's two conversions; truncating then gives the same
sample even where the result is a whole grey level but for the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ops.compiled import compiled
from ops.corruptions.draws import Doubles
from ops.corruptions.kernel import Image


class Change(NamedTuple):
    """What becomes of saturation and value, both in [0, 1] and clipped to it."""

    gain: float = 1.0
    added_saturation: float = 0.0
    added_value: float = 0.0


@compiled()
def _change(pixels: Image, levels: Doubles, changes: Doubles, out: Image) -> None:
    width = pixels.shape[1]
    # One row of each at a time, so that all of it stays in the nearest cache.
    red, green, blue = np.empty(width), np.empty(width), np.empty(width)
    red_weight, green_weight, blue_weight = np.empty(width), np.empty(width), np.empty(width)
    saturation, value = np.empty(width), np.empty(width)
    weights = np.empty(3 * width)
    saturations, values = np.empty(3 * width), np.empty(3 * width)
    for row in range(pixels.shape[0]):
        for i in range(width):
            red[i] = levels[pixels[row, i, 0]]
            green[i] = levels[pixels[row, i, 1]]
            blue[i] = levels[pixels[row, i, 2]]
        for i in range(width):
            r, g, b = red[i], green[i], blue[i]
            greatest = max(max(r, g), b)
            spread = greatest - min(min(r, g), b)
            grey = spread == 0.0
            # Where two channels are the greatest, the later one counts.
            base = 4.0 if b == greatest else (2.0 if g == greatest else 0.0)
            first = r if b == greatest else (b if g == greatest else g)
            second = g if b == greatest else (r if g == greatest else b)
            hue = (base + (first - second) / (1.0 if grey else spread)) / 6.0
            hue = hue + 1.0 if hue < 0.0 else hue
            hue = 0.0 if grey else hue
            sector = np.floor(hue * 6)
            fraction = hue * 6 - sector
            sector = 0.0 if sector == 6.0 else sector
            odd = sector == 1.0 or sector == 3.0 or sector == 5.0
            third = fraction if odd else 1.0 - fraction
            red_third = sector == 1.0 or sector == 4.0
            green_third = sector == 0.0 or sector == 3.0
            blue_third = sector == 2.0 or sector == 5.0
            red_least = sector == 2.0 or sector == 3.0
            red_weight[i] = third if red_third else (1.0 if red_least else 0.0)
            green_weight[i] = third if green_third else (1.0 if sector >= 4.0 else 0.0)
            blue_weight[i] = third if blue_third else (1.0 if sector <= 1.0 else 0.0)
            saturation[i] = 0.0 if grey else spread / greatest
            value[i] = greatest
        for i in range(width):
            weights[3 * i] = red_weight[i]
            weights[3 * i + 1] = green_weight[i]
            weights[3 * i + 2] = blue_weight[i]
            saturations[3 * i] = saturations[3 * i + 1] = saturations[3 * i + 2] = saturation[i]
            values[3 * i] = values[3 * i + 1] = values[3 * i + 2] = value[i]
        for number in range(changes.shape[0]):
            gain, added_saturation, added_value = changes[number]
            results = out[number, row]
            for i in range(results.size):
                s = min(max(saturations[i] * gain + added_saturation, 0.0), 1.0)
                v = min(max(values[i] + added_value, 0.0), 1.0)
                sample = v * (1.0 - weights[i] * s)
                results[i] = np.uint8(min(max(sample, 0.0), 1.0) * 255.0)


def change(image: Image, changes: Sequence[Change]) -> Image:
    """Apply several changes to one image, each to the image itself.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    changes : sequence of Change
        What to do to saturation and value.

    Returns
    -------
    uint8 array, shape (changes, height, width, 3)
        RGB, truncated to whole grey levels.
    """
    out = np.empty((len(changes), *image.shape), np.uint8)
    rows = image.shape[0]
    levels = np.arange(256) / 255.0
    _change(image, levels, np.array(changes, np.float64), out.reshape(len(changes), rows, -1))
    return out
