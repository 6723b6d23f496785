"""Gaussian noise: the clean image, then frames of it plus normal numbers, each drawn anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions import gaussian_noise
from ops.corruptions.keyed import Keyed
from ops.perturbations import noise_frames
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Image, Source


def exact(source: Source, level: Level) -> Frames:
    """In single precision, as tensors of torch are added and clipped."""
    frames = source.frames(level.frames)
    frames[0] = source.clean
    for frame in range(1, level.frames):
        normal = level.draws_of(frame).normal("noise", 0.0, 1.0, source.clean.shape)
        _add(
            source.clean.reshape(-1),
            np.asarray(normal, np.float32).reshape(-1),
            np.float32(level.parameters["sigma"]),
            frames[frame].reshape(-1),
        )
    return frames


def fast(source: Source, level: Level) -> Frames:
    """Keyed noise in whole grey levels; a replay is as `exact`, for drawing is what takes long."""
    if isinstance(level.draws, Keyed):
        return noise_frames.fast(gaussian_noise, source, level)
    return exact(source, level)


@compiled()
def _add(samples: Image, normal: npt.NDArray[np.float32], sigma: np.float32, out: Image) -> None:
    white = np.float32(255)
    for i in range(samples.size):
        value = np.float32(samples[i]) / white + sigma * normal[i]
        value = min(max(value, np.float32(0)), np.float32(1))
        out[i] = np.uint8(np.int32(value * white))
