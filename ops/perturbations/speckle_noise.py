"""Speckle: the clean image, then frames of it times normal numbers around one, each drawn anew."""

from __future__ import annotations

from ops.corruptions import speckle_noise
from ops.perturbations import noise_frames
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """The image plus itself times noise, in double precision."""
    return noise_frames.exact(speckle_noise, source, level)


def fast(source: Source, level: Level) -> Frames:
    """Keyed noise as single-precision factors of the samples."""
    return noise_frames.fast(speckle_noise, source, level)
