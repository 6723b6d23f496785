"""Zoom blur: the mean of the picture and its enlargements so far, one more from frame to frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.perturbations.affine import inverse_map, warp
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Image, Source


def exact(source: Source, level: Level) -> Frames:
    """Enlargements of 8 bits, summed in single precision as they come."""
    frames = source.frames(level.frames)
    frames[0] = source.clean
    total = np.zeros(source.clean.size, np.float32)
    _add(frames[0].reshape(-1), total, 1)
    for frame, factor in enumerate(level.sweep("factor")[1:], start=1):
        warp(source, inverse_map(source.height, source.width, scale=factor), frames[frame])
        _add(frames[frame].reshape(-1), total, frame + 1)
    return frames


fast = exact


@compiled()
def _add(samples: Image, total: npt.NDArray[np.float32], count: int) -> None:
    """Add samples to the total and put the mean of all so far in their place."""
    white, divisor = np.float32(255), np.float32(count)
    for i in range(samples.size):
        total[i] += np.float32(samples[i]) / white
        # The mean of equal samples can fall just short of them, as it does in the original.
        samples[i] = np.uint8(np.int32(total[i] / divisor * white))
