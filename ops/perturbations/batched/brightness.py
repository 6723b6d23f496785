"""Brightness: the value in HSV raised from frame to frame."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ops.corruptions.batched.hsv import parts
from ops.perturbations.batched.level import BatchLevel, centre


def brightness(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Each channel's share of the value, computed once; bit for bit the CPU kernel's result."""
    value, saturation, weights = parts(centre(images))
    shares = weights.mul_(saturation[:, None]).neg_().add_(1.0)
    for percent in level.sweep("percent"):
        bright = value.add(percent / 100.0).clamp_(0.0, 1.0)
        yield shares.mul(bright[:, None]).mul_(255.0).to(torch.uint8)
