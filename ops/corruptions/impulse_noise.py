"""Impulse noise: a fraction of the samples, each on its own, becomes black or white.

What is replayed from a generator is told at :meth:`ops.corruptions.draws.Replay.impulses`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import laws
from ops.corruptions.kernel import Image, Level
from ops.corruptions.keyed import Keyed


def exact(image: Image, level: Level) -> Image:
    """White where the impulse is positive, black where it is negative."""
    impulses = level.draws.impulses("impulses", level.parameters["amount"], image.shape)
    # Whole bytes: masks of single samples cost several times as much.
    kept, white = (impulses == 0).view(np.uint8), (impulses > 0).view(np.uint8)
    return np.asarray(image * kept + np.uint8(255) * white)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Keyed impulses by comparing 16 bits with two thresholds."""
    return [_fast(image, level) for level in levels]


def _fast(image: Image, level: Level) -> Image:
    if not isinstance(level.draws, Keyed):  # drawing costs far more than the arithmetic
        return exact(image, level)
    halves = level.draws.halves("impulses", image.size)
    out = np.empty_like(image)
    threshold = laws.impulse_threshold(level.parameters["amount"])
    _flip(image.reshape(-1), halves, threshold, out.reshape(-1))
    return out


@compiled()
def _flip(pixels: Image, halves: npt.NDArray[np.uint16], threshold: int, out: Image) -> None:
    white, black = np.int32(threshold), np.int32(2 * threshold)
    for i in range(pixels.size):
        half = np.int32(halves[i])
        kept = pixels[i] if half >= black else np.uint8(0)
        out[i] = kept if half >= white else np.uint8(255)
