"""Gaussian, shot and speckle noise: the clean image, then frames of it with draws of their own."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from ops.corruptions.batched import noise
from ops.corruptions.batched.level import BatchKernel as Corruption
from ops.corruptions.batched.level import BatchLevel as CorruptionLevel
from ops.perturbations.batched.level import BatchLevel, centre


def gaussian_noise(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Whole grey levels added; bit for bit the CPU kernel's result."""
    return _frames(noise.gaussian_noise, images, level)


def shot_noise(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Counts by alias tables; bit for bit the CPU kernel's result."""
    return _frames(noise.shot_noise, images, level)


def speckle_noise(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Single-precision factors; bit for bit the CPU kernel's result."""
    return _frames(noise.speckle_noise, images, level)


def _frames(corruption: Corruption, images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    clean = centre(images)
    yield clean
    for frame in range(1, level.frames):
        yield corruption(clean, CorruptionLevel(level.parameters, level.draws.of_frame(frame)))
