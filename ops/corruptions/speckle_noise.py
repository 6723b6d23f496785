"""Speckle: samples multiplied by independent normal numbers around one."""

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
    """The image plus itself times noise, in double precision."""
    noise = level.draws.normal("noise", 0.0, level.parameters["sigma"], image.shape)
    return add(image, noise, relative=True)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Keyed noise as single-precision factors of the samples."""
    return [_fast(image, level) for level in levels]


def _fast(image: Image, level: Level) -> Image:
    if not isinstance(level.draws, Keyed):  # drawing costs far more than the arithmetic
        return exact(image, level)
    halves = level.draws.halves("noise", image.size)
    out, rows = np.empty_like(image), len(image)
    _scale(
        image.reshape(rows, -1),
        halves.reshape(rows, -1),
        factors(level.parameters["sigma"]),
        out.reshape(rows, -1),
    )
    return out


@lru_cache(maxsize=64)
def factors(sigma: float) -> npt.NDArray[np.float32]:
    """The factor of each half: ``1 + sigma * z``, float32 of shape (65536,)."""
    return (1 + sigma * laws.normal()).astype(np.float32)


@compiled()
def _scale(
    pixels: Image, halves: npt.NDArray[np.uint16], factors: npt.NDArray[np.float32], out: Image
) -> None:
    looked_up = np.empty(pixels.shape[1], np.float32)
    for row in range(pixels.shape[0]):
        samples, bits, results = pixels[row], halves[row], out[row]
        for i in range(samples.size):
            looked_up[i] = factors[bits[i]]
        for i in range(samples.size):
            value = np.float32(samples[i]) * looked_up[i]
            results[i] = np.uint8(min(max(value, np.float32(0)), np.float32(255)))
