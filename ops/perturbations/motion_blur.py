"""Motion blur: along a line that turns by four degrees from frame to frame."""

from __future__ import annotations

from ops.corruptions.motion_taps import Taps, blur_exact, blur_fast, motion_taps, padded_levels
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """Bit for bit what ImageMagick 6 with 16 bits gives."""
    frames = source.frames(level.frames)
    for out, taps in zip(frames, _taps(level), strict=True):
        out[:] = blur_exact(source.clean, taps)
    return frames


def fast(source: Source, level: Level) -> Frames:
    """In single precision, on one padded image."""
    frames = source.frames(level.frames)
    taps = _taps(level)
    padded = padded_levels(source.clean, max(line.margin for line in taps))
    for out, line in zip(frames, taps, strict=True):
        out[:] = blur_fast(padded, line)
    return frames


def _taps(level: Level) -> list[Taps]:
    radius, sigma = level.parameters["radius"], level.parameters["sigma"]
    return [motion_taps(radius, sigma, angle) for angle in level.sweep("angle")]
