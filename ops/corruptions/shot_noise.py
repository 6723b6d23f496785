"""Shot noise: each sample is the count of photons it stands for, drawn from Poisson's law."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import laws
from ops.corruptions.kernel import Image, Level
from ops.corruptions.keyed import Keyed

_GREY_LEVELS = 256


def exact(image: Image, level: Level) -> Image:
    """Counts of photons over the count of white."""
    photons = level.parameters["photons"]
    counts = level.draws.poisson("counts", image / 255.0 * photons)
    return _seen(photons, int(counts.max()))[counts]


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Keyed counts by one alias table for each grey level, the results already in it."""
    return [_fast(image, level) for level in levels]


def _fast(image: Image, level: Level) -> Image:
    if not isinstance(level.draws, Keyed):  # drawing costs far more than the arithmetic
        return exact(image, level)
    halves = level.draws.halves("counts", image.size)
    out, rows = np.empty_like(image), len(image)
    table, shift = columns(level.parameters["photons"])
    _count(image.reshape(rows, -1), halves.reshape(rows, -1), table, shift, out.reshape(rows, -1))
    return out


def _seen(photons: float, highest: int) -> Image:
    """The sample that each count up to the highest is seen as, uint8 of shape (highest + 1,)."""
    seen = np.clip(np.arange(highest + 1) / photons, 0, 1) * 255
    return seen.astype(np.uint8)


@lru_cache(maxsize=64)
def columns(photons: float) -> tuple[npt.NDArray[np.uint32], int]:
    """Alias tables of all grey levels, cut to the same number of columns.

    A column holds its threshold in the lower 16 bits, then the sample of its own count, then
    that of its alias. Cutting a column in two changes no count: the threshold falls in one part.
    """
    law = laws.poisson(np.arange(_GREY_LEVELS) / 255.0 * photons)
    shift = int(law.shift.min())
    seen = _seen(photons, int(law.own.max())).astype(np.uint32)
    parts = 1 << (law.shift - shift)
    ends = np.append(law.start[1:], len(law.own))
    pieces = []
    for start, end, part in zip(law.start, ends, parts, strict=True):
        before = np.tile(np.arange(part) << shift, end - start)
        column = np.repeat(np.arange(start, end), part)
        threshold = np.clip(law.threshold[column] - before, 0, 1 << shift).astype(np.uint32)
        pieces.append(threshold | seen[law.own[column]] << 16 | seen[law.alias[column]] << 24)
    return np.concatenate(pieces), shift


@compiled()
def _count(
    pixels: Image,
    halves: npt.NDArray[np.uint16],
    table: npt.NDArray[np.uint32],
    shift: int,
    out: Image,
) -> None:
    columns = np.uint32(table.size // _GREY_LEVELS)
    below = np.uint32(shift)
    mask = np.uint32((1 << shift) - 1)
    looked_up = np.empty(pixels.shape[1], np.uint32)
    for row in range(pixels.shape[0]):
        samples, bits, results = pixels[row], halves[row], out[row]
        for i in range(samples.size):
            looked_up[i] = table[np.uint32(samples[i]) * columns + (np.uint32(bits[i]) >> below)]
        for i in range(samples.size):
            column = looked_up[i]
            own = (np.uint32(bits[i]) & mask) < (column & np.uint32(0xFFFF))
            results[i] = np.uint8(column >> np.uint32(16) if own else column >> np.uint32(24))
