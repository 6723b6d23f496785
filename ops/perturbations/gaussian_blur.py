"""Gaussian blur: of a width that grows from frame to frame."""

from __future__ import annotations

from ops.corruptions.gaussian import blur_levels
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """In double precision, bit for bit what SciPy gives."""
    frames = source.frames(level.frames)
    for out, sigma in zip(frames, level.sweep("sigma"), strict=True):
        out[:] = blur_levels(source.clean, sigma, truncate=level.parameters["truncate"])
    return frames


fast = exact
