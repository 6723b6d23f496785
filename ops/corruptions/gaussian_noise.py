"""Gaussian noise: independent normal numbers added to the samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import laws
from ops.corruptions.added_noise import add
from ops.corruptions.kernel import Image, Level
from ops.corruptions.keyed import Keyed


def exact(image: Image, level: Level) -> Image:
    """Noise in double precision, added to the image in [0, 1]."""
    return add(image, level.draws.normal("noise", 0.0, level.parameters["sigma"], image.shape))


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Keyed noise in whole grey levels: the samples are whole, so no fraction is lost."""
    return [_fast(image, level) for level in levels]


def _fast(image: Image, level: Level) -> Image:
    if not isinstance(level.draws, Keyed):  # drawing costs far more than the arithmetic
        return exact(image, level)
    halves = level.draws.halves("noise", image.size)
    out, rows = np.empty_like(image), len(image)
    _shift(
        image.reshape(rows, -1),
        halves.reshape(rows, -1),
        shifts(level.parameters["sigma"]),
        out.reshape(rows, -1),
    )
    return out


@lru_cache(maxsize=64)
def shifts(sigma: float) -> npt.NDArray[np.int16]:
    """Grey levels to add for each half: ``floor(255 * sigma * z)``, int16 of shape (65536,)."""
    return np.floor(255 * sigma * laws.normal()).astype(np.int16)


@compiled()
def _shift(
    pixels: Image, halves: npt.NDArray[np.uint16], shifts: npt.NDArray[np.int16], out: Image
) -> None:
    # Looked up first and added then: the addition alone fits in vector registers.
    looked_up = np.empty(pixels.shape[1], np.int16)
    for row in range(pixels.shape[0]):
        samples, bits, results = pixels[row], halves[row], out[row]
        for i in range(samples.size):
            looked_up[i] = shifts[bits[i]]
        for i in range(samples.size):
            value = np.int16(np.int16(samples[i]) + looked_up[i])
            results[i] = np.uint8(min(max(value, np.int16(0)), np.int16(255)))
