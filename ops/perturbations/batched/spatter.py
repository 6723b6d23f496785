"""Spatter: the water of each image is found on the CPU and laid over it on the device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from ops.corruptions import laws
from ops.corruptions.batched.division import divided
from ops.corruptions.spatter import WATER
from ops.perturbations.batched.level import BatchLevel, centre
from ops.perturbations.spatter import covers


def spatter(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In single precision; bit for bit the CPU kernel's result."""
    clean, given = centre(images), level.parameters
    unit = divided(clean.to(torch.float32), 255.0)
    colour = torch.tensor(WATER, device=images.device)[:, None, None]
    halves = level.draws.halves("layer", clean[0, 0].numel()).cpu().numpy()
    heights = given["mean"] + given["std"] * laws.normal()[halves]
    # Outlines and distances to them go from pixel to pixel: that is no work for a device.
    water = [covers(drawn.reshape(clean.shape[2:]), level) for drawn in heights]
    for cover in zip(*water, strict=True):
        laid = torch.from_numpy(np.stack(cover)).to(images.device)[:, None] * colour
        yield laid.add_(unit).clamp_(max=1.0).mul_(255.0).to(torch.uint8)
