"""Scale: the picture grown about its middle, on black."""

from __future__ import annotations

from ops.perturbations.affine import inverse_map, warp
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """Bit for bit what torchvision makes of Pillow images."""
    frames = source.frames(level.frames)
    for frame, percent in enumerate(level.sweep("percent")):
        warp(source, inverse_map(source.height, source.width, scale=percent / 100.0), frames[frame])
    return frames


fast = exact
