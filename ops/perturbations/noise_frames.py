"""A clean image followed by frames of noise, each a corruption of it with draws of its own."""

from __future__ import annotations

from ops.corruptions import kernel as corruptions
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(noise: corruptions.Kernel, source: Source, level: Level) -> Frames:
    """Frames of a corruption, in its exact arithmetic.

    Parameters
    ----------
    noise : ops.corruptions.kernel.Kernel
        The corruption.
    source : Source
        The image.
    level : Level
        Of a perturbation with the corruption's parameters.

    Returns
    -------
    uint8 array, shape (frames, 224, 224, 3)
        The clean image first.
    """
    frames = source.frames(level.frames)
    frames[0] = source.clean
    for out, drawn in zip(frames[1:], _levels(level), strict=True):
        out[:] = noise.exact(source.clean, drawn)
    return frames


def fast(noise: corruptions.Kernel, source: Source, level: Level) -> Frames:
    """As `exact`, in the corruption's fast arithmetic."""
    frames = source.frames(level.frames)
    frames[0] = source.clean
    for out, drawn in zip(frames[1:], _levels(level), strict=True):
        (out[:],) = noise.fast(source.clean, [drawn])
    return frames


def _levels(level: Level) -> list[corruptions.Level]:
    return [
        corruptions.Level(level.parameters, level.draws_of(frame))
        for frame in range(1, level.frames)
    ]
