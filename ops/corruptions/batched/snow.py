"""Snow on a batch: each image under flakes of its own, blown along a wind of its own."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ops.corruptions.batched.clipped_zoom import clipped_zoom
from ops.corruptions.batched.division import divided
from ops.corruptions.batched.laws import normal
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.batched.motion_taps import motion_blurred

# The weights of red, green and blue in grey, as single precision has them.
_LUMA = tuple(float(np.float32(weight)) for weight in (0.299, 0.587, 0.114))


def snow(images: Tensor, level: BatchLevel) -> Tensor:
    """Blow the flakes over the whitened images; bit for bit the CPU kernel's result."""
    given = level.parameters
    angles = level.draws.uniform("angle", -135.0, -45.0, 1)[:, 0]
    layers = flakes(images, level)
    layers = motion_blurred(layers, given["radius"], given["sigma"], angles).to(torch.int32)
    fallen = layers + layers.flip((2, 3))
    return (_whitened(images, given["mix"]) + fallen).clamp_(max=255).to(torch.uint8)


def flakes(images: Tensor, level: BatchLevel) -> Tensor:
    """Flakes before the wind in grey levels, uint8 of shape (images, 1, size, size)."""
    given = level.parameters
    count, _, height, width = images.shape
    halves = level.draws.halves("layer", height * width).reshape(count, 1, height, width)
    heights = normal(images.device)[halves].mul_(given["std"]).add_(given["mean"])
    heights = clipped_zoom(heights, given["zoom"])
    heights.masked_fill_(heights < given["threshold"], 0.0)
    return heights.clamp_(0.0, 1.0).mul_(255.0).to(torch.uint8)


def _whitened(images: Tensor, mix: float) -> Tensor:
    """Whole grey levels of the images mixed with what they are whitened towards, int32."""
    unit, white = whiteness(images)
    mixed = unit.mul_(mix).add_(white.mul_(1 - mix))
    return mixed.to(torch.float64).mul_(255.0).to(torch.int32)


def whiteness(images: Tensor) -> tuple[Tensor, Tensor]:
    """The images on [0, 1] and what they are whitened towards, float32 of the images' shape."""
    unit = divided(images.to(torch.float32), 255.0)
    red, green, blue = unit.unbind(1)
    # The CPU kernel's order of operations, with its exact products in double.
    inner = red.to(torch.float64).mul_(_LUMA[0]).add_(green * _LUMA[1]).to(torch.float32)
    gray = blue.to(torch.float64).mul_(_LUMA[2]).add_(inner).to(torch.float32)
    return unit, torch.maximum(unit, gray.mul_(1.5).add_(0.5)[:, None])
