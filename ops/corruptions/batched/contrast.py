"""Contrast on a batch: a table of 256 samples for each channel of each image.

The CPU kernel sums a channel's samples one after the other, here they are summed as whole numbers:
the means differ in their last bits, which shows where a result is a whole grey level, as in a
channel of one value.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.level import BatchLevel


def contrast(images: Tensor, level: BatchLevel) -> Tensor:
    """Move every sample towards the mean of its channel."""
    count, channels, height, width = images.shape
    flat = images.reshape(count, channels, height * width)
    sums = flat.sum(2, keepdim=True, dtype=torch.int64).to(torch.float64)
    means = divided(divided(sums, 255.0), height * width)
    samples = divided(torch.arange(256, dtype=torch.float64, device=images.device), 255.0)
    tables = (samples - means).mul_(level.parameters["gain"]).add_(means)
    tables = tables.clamp_(0.0, 1.0).mul_(255.0).to(torch.uint8)
    return tables.gather(2, flat.long()).reshape(images.shape)
