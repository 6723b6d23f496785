"""Translate: the picture moved to the right, a pixel from frame to frame."""

from __future__ import annotations

from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """Whole pixels, so nothing is interpolated; black enters beyond the margin."""
    frames = source.frames(level.frames)
    rows = source.pixels[source.top : source.top + source.size]
    for out, pixels in zip(frames, level.sweep("pixels"), strict=True):
        start = source.left - int(pixels)
        first, end = max(start, 0), min(start + source.size, source.width)
        out[:, : first - start] = 0
        out[:, first - start : end - start] = rows[:, first:end]
        out[:, end - start :] = 0
    return frames


fast = exact
