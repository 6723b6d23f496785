"""Spatter on a batch.

The rims of water drops are found on the CPU, image by image: their edge detector, distance
transform and histogram are OpenCV's. It is the one corruption that waits for the device, and it is
none of the benchmark's fifteen. Mud stays on the device.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.gaussian import blurred, blurred_along
from ops.corruptions.batched.laws import normal
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.spatter import MUD, THINNEST_MUD, WATER, relief


def spatter(images: Tensor, level: BatchLevel) -> Tensor:
    """Lay drops or splashes over the images; bit for bit the CPU kernel's result."""
    given = level.parameters
    count, _, height, width = images.shape
    halves = level.draws.halves("layer", height * width).reshape(count, 1, height, width)
    liquid = blurred(
        normal(images.device)[halves].mul_(given["std"]).add_(given["mean"]), given["sigma"]
    )
    liquid.masked_fill_(liquid < given["threshold"], 0.0)
    unit = divided(images.to(torch.float32), 255.0)
    if given["mud"]:
        cover = _mud_covers(liquid, given["threshold"], given["intensity"])
        unit *= 1.0 - cover
    else:
        cover = _water_covers(liquid, given["intensity"])
    unit += cover * _colour(bool(given["mud"]), images.device)
    return unit.clamp_(max=1.0).mul_(255.0).to(torch.uint8)


def _mud_covers(liquid: Tensor, threshold: float, sigma: float) -> Tensor:
    """How much of each pixel mud hides: 0, or in [0.8, 1], float32 of the liquid's shape."""
    # SciPy sums in double and rounds after each axis.
    cover = (liquid > threshold).to(torch.float32)
    for dim in (2, 3):
        cover = blurred_along(dim, cover.to(torch.float64), sigma).to(torch.float32)
    return cover.masked_fill_(cover < THINNEST_MUD, 0.0)


def _water_covers(liquid: Tensor, intensity: float) -> Tensor:
    """How much water lies on each pixel, in [0, intensity], float32 of the liquid's shape."""
    depths = (liquid * 255.0).to(torch.uint8)
    rims = np.stack([relief(depth) for depth in depths[:, 0].cpu().numpy()])
    covers = torch.from_numpy(rims)[:, None].to(liquid.device).mul_(depths)
    return covers.div_(covers.amax((2, 3), keepdim=True)).mul_(intensity)


@lru_cache(maxsize=8)
def _colour(mud: bool, device: torch.device) -> Tensor:
    """Red, green and blue in [0, 1], float32 of shape (3, 1, 1)."""
    colour = torch.tensor(MUD if mud else WATER, dtype=torch.float32)
    return colour[:, None, None].to(device)
