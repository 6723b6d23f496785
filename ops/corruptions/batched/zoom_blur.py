"""Zoom blur on a batch: zooms made one after the other, and added as they are made."""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.clipped_zoom import axis_tensors
from ops.corruptions.batched.division import divided
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.zoom_blur import zoom_factors


def zoom_blur(images: Tensor, level: BatchLevel) -> Tensor:
    """Average an image and its zooms in single precision; bit for bit the CPU kernel's result."""
    size = images.shape[2]
    light = divided(images.to(torch.float32), 255.0)
    to_next_row = torch.zeros_like(light)
    torch.sub(light[:, :, 1:], light[:, :, :-1], out=to_next_row[:, :, :-1])
    total = torch.zeros_like(light)
    factors = zoom_factors(level.parameters)
    for factor in factors:
        axis = axis_tensors(size, factor, torch.float32, images.device)
        # Products and sums stay apart: fused, their last bit would change.
        mixed = to_next_row.index_select(2, axis.first).mul_(axis.far[:, None])
        mixed += light.index_select(2, axis.first)
        left = mixed.index_select(3, axis.first)
        total += mixed.index_select(3, axis.following).sub_(left).mul_(axis.far).add_(left)
    return divided(total.add_(light), len(factors) + 1).mul_(255.0).to(torch.uint8)
