"""Motion blur and Gaussian blur."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.gaussian import blurred
from ops.corruptions.batched.motion_taps import motion_blurred
from ops.perturbations.batched.level import BatchLevel, centre


def motion_blur(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Along one turning line for all images, in single precision."""
    clean = centre(images)
    radius, sigma = level.parameters["radius"], level.parameters["sigma"]
    for angle in level.sweep("angle"):
        angles = torch.full((len(images),), angle, dtype=torch.float64, device=images.device)
        yield motion_blurred(clean, radius, sigma, angles)


def gaussian_blur(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In double precision; bit for bit the CPU kernel's result."""
    unit = divided(centre(images).to(torch.float64), 255.0)
    for sigma in level.sweep("sigma"):
        wide = blurred(unit, sigma, truncate=level.parameters["truncate"])
        yield wide.mul_(255.0).to(torch.uint8)
