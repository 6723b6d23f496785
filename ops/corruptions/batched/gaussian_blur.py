"""Gaussian blur on a batch."""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.gaussian import blurred
from ops.corruptions.batched.level import BatchLevel


def gaussian_blur(images: Tensor, level: BatchLevel) -> Tensor:
    """Blur in double precision; bit for bit the CPU kernel's result."""
    return blurred_levels(images, level.parameters["sigma"])


def blurred_levels(images: Tensor, sigma: float) -> Tensor:
    """Blur 8-bit images on [0, 1], edges repeated, and cut the result to 8 bits again.

    Parameters
    ----------
    images : uint8 tensor, shape (images, channels, height, width)
    sigma : float
        Standard deviation in pixels; the kernel ends at four of them.

    Returns
    -------
    uint8 tensor, shape (images, channels, height, width)
    """
    return blurred(divided(images.to(torch.float64), 255.0), sigma).mul_(255.0).to(torch.uint8)
