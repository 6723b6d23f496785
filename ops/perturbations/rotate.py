"""Rotate: the picture turned about its middle, a degree clockwise from frame to frame."""

from __future__ import annotations

from ops.perturbations.affine import inverse_map, warp
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """Bit for bit what torchvision makes of Pillow images."""
    frames = source.frames(level.frames)
    for frame, angle in enumerate(level.sweep("angle")):
        warp(source, inverse_map(source.height, source.width, angle=angle), frames[frame])
    return frames


fast = exact
