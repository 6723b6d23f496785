"""Brightness and saturate on a batch: the CPU kernel's operations in their order, in double.

In single precision every second result that is a whole grey level would fall to the one below.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.hsv import Change

# For each sector of the colour circle, what weighs red, green and blue: 0 the greatest channel,
# 1 the third while it rises, 2 the least, 3 the third while it falls. The last is the first again:
# a hue can round up to a whole turn.
_ROLES = ((0, 1, 2), (3, 0, 2), (2, 0, 1), (2, 3, 0), (1, 2, 0), (0, 2, 3), (0, 1, 2))


def brightness(images: Tensor, level: BatchLevel) -> Tensor:
    """Add to the value; bit for bit the CPU kernel's result."""
    return _changed(images, Change(added_value=level.parameters["added"]))


def saturate(images: Tensor, level: BatchLevel) -> Tensor:
    """Change the saturation; bit for bit the CPU kernel's result."""
    gain, added = level.parameters["gain"], level.parameters["added"]
    return _changed(images, Change(gain=gain, added_saturation=added))


def parts(images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Value and saturation, and how much the saturation darkens each channel.

    Parameters
    ----------
    images : uint8 tensor, shape (images, 3, height, width)
        RGB.

    Returns
    -------
    value, saturation : float64 tensors, shape (images, height, width)
        In [0, 1].
    weights : float64 tensor, shape (images, 3, height, width)
        In [0, 1]: a channel is ``value * (1 - weight * saturation)``.
    """
    channels = divided(images.to(torch.float64), 255.0)
    red, green, blue = channels.unbind(1)
    value = channels.amax(1)
    spread = value - channels.amin(1)
    gray = spread == 0.0
    saturation = spread / value.masked_fill(gray, 1.0)

    # Where two channels are the greatest, the later one counts.
    spread.masked_fill_(gray, 1.0)
    from_red, from_green = (green - blue).div_(spread), (blue - red).div_(spread).add_(2.0)
    hue = torch.where(green == value, from_green, from_red)
    hue = torch.where(blue == value, (red - green).div_(spread).add_(4.0), hue)
    hue = divided(hue, 6.0)
    hue += hue < 0.0
    turns = hue.masked_fill_(gray, 0.0).mul_(6.0)
    sector = turns.floor()
    falling = turns.sub_(sector)
    nought, whole = torch.zeros_like(falling), torch.ones_like(falling)
    roles = torch.stack((nought, 1.0 - falling, whole, falling), 1)
    weights = roles.gather(1, _roles(images.device)[sector.long()].permute(0, 3, 1, 2))
    return value, saturation, weights


def _changed(images: Tensor, change: Change) -> Tensor:
    """Apply what :mod:`ops.corruptions.hsv` describes."""
    value, saturation, weights = parts(images)
    saturation.mul_(change.gain).add_(change.added_saturation).clamp_(0.0, 1.0)
    value.add_(change.added_value).clamp_(0.0, 1.0)
    samples = weights.mul_(saturation[:, None]).neg_().add_(1.0).mul_(value[:, None])
    return samples.clamp_(0.0, 1.0).mul_(255.0).to(torch.uint8)


@lru_cache(maxsize=8)
def _roles(device: torch.device) -> Tensor:
    return torch.tensor(_ROLES).to(device)
