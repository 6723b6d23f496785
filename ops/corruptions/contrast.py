"""Contrast: every sample moves towards the mean of its channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.draws import Doubles
from ops.corruptions.kernel import Image, Level

_AT_ONCE = 8  # results that share an entry of a table, a byte each


def exact(image: Image, level: Level) -> Image:
    """The distance from the mean times the gain, in double precision."""
    return _contrast(image, [level])[0]


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same bits as `exact`, means and samples looked up once."""
    return _contrast(image, levels)


def _contrast(image: Image, levels: Sequence[Level]) -> list[Image]:
    samples = np.arange(256) / 255.0
    means = _sums(image.reshape(-1, 3), samples) / (image.size // 3)
    images: list[Image] = []
    for start in range(0, len(levels), _AT_ONCE):
        together = levels[start : start + _AT_ONCE]
        tables = np.zeros((3, 256), np.uint64)
        for place, level in enumerate(together):
            tables |= _table(samples, means[:, np.newaxis], level) << np.uint64(8 * place)
        out = np.empty((len(together), *image.shape), np.uint8)
        _look_up(image, tables, out.reshape(len(together), len(image), -1))
        images.extend(out)
    return images


def _table(samples: Doubles, means: Doubles, level: Level) -> npt.NDArray[np.uint64]:
    """What becomes of every sample of every channel, uint64 of shape (3, 256)."""
    moved = np.clip((samples - means) * level.parameters["gain"] + means, 0, 1) * 255
    return np.asarray(moved, np.uint64)


@compiled()
def _sums(pixels: Image, samples: Doubles) -> Doubles:
    # One addition after the other, as NumPy sums over the leading axes: a result that lies
    # on a whole grey level hangs on the last bit of the mean.
    red, green, blue = 0.0, 0.0, 0.0
    for i in range(pixels.shape[0]):
        red += samples[pixels[i, 0]]
        green += samples[pixels[i, 1]]
        blue += samples[pixels[i, 2]]
    return np.array([red, green, blue])


@compiled()
def _look_up(pixels: Image, tables: npt.NDArray[np.uint64], out: Image) -> None:
    red, green, blue = tables[0], tables[1], tables[2]
    looked_up = np.empty(out.shape[2], np.uint64)
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            looked_up[3 * column] = red[pixels[row, column, 0]]
            looked_up[3 * column + 1] = green[pixels[row, column, 1]]
            looked_up[3 * column + 2] = blue[pixels[row, column, 2]]
        for place in range(out.shape[0]):
            results = out[place, row]
            shift = np.uint64(8 * place)
            for i in range(results.size):
                results[i] = np.uint8(looked_up[i] >> shift)
