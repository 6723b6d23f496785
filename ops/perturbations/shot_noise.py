"""Shot noise: the clean image, then frames of it counted in photons, each drawn anew."""

from __future__ import annotations

from ops.corruptions import shot_noise
from ops.corruptions.keyed import Keyed
from ops.perturbations import noise_frames
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """Counts of photons over the count of white."""
    if isinstance(level.draws, Keyed):  # its tables hold the samples that the counts are seen as
        return fast(source, level)
    return noise_frames.exact(shot_noise, source, level)


def fast(source: Source, level: Level) -> Frames:
    """Keyed counts by alias tables."""
    return noise_frames.fast(shot_noise, source, level)
