"""Spatter: water on the lens that runs down from frame to frame."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ops.corruptions.gaussian import blur_field
from ops.corruptions.spatter import WATER, lay, water_cover
from ops.perturbations.kernel import Frames, Level, Steps
from ops.perturbations.source import Source

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


def exact(source: Source, level: Level) -> Frames:
    """The water of each frame over the clean picture, in single precision."""
    frames, given = source.frames(level.frames), level.parameters
    heights = level.draws.normal("layer", given["mean"], given["std"], (source.size, source.size))
    for out, cover in zip(frames, covers(heights, level), strict=True):
        lay(source.clean, cover, WATER, False, out)
    return frames


fast = exact


def covers(heights: Doubles, steps: Steps) -> Iterator[Singles]:
    """How much water lies on each pixel, frame after frame.

    Parameters
    ----------
    heights : float64 array, shape (height, width)
        Normal numbers that the water is made of.
    steps : Steps
        Parameters ``sigma`` of their blur in pixels, ``threshold`` (below it there is no water),
        ``intensity`` and ``flow``.

    Yields
    ------
    float32 array, shape (height, width)
        In [0, intensity].
    """
    given = steps.parameters
    heights = blur_field(heights, given["sigma"])
    heights[heights < given["threshold"]] = 0.0
    for _ in range(steps.frames):
        yield water_cover(heights, given["intensity"])
        heights = _run_down(heights, given["flow"])


def _run_down(heights: Doubles, flow: list[float]) -> Doubles:
    """Each column convolved with the flow, zeros beyond its ends."""
    size = len(heights)
    rows = np.pad(heights, ((2, 1), (0, 0)))
    # As np.convolve adds: from the last weight to the first.
    total = rows[:size] * flow[3]
    for weight in (2, 1, 0):
        total += rows[3 - weight : 3 - weight + size] * flow[weight]
    return total
