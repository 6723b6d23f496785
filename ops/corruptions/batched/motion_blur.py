"""Motion blur, on a batch: each image along its own direction."""

from __future__ import annotations

from torch import Tensor

from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.batched.motion_taps import motion_blurred


def motion_blur(images: Tensor, level: BatchLevel) -> Tensor:
    """Blur along a line at -45 to 45 degrees; bit for bit the CPU kernel's result."""
    radius, sigma = level.parameters["radius"], level.parameters["sigma"]
    angles = level.draws.uniform("angle", -45.0, 45.0, 1)[:, 0]
    return motion_blurred(images, radius, sigma, angles)
