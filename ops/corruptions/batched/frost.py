"""Frost on a batch: each image under a photograph and at a place of its own."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ops.corruptions import textures
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.batched.windows import windows
from ops.corruptions.frost import DRAWN, require_larger, scaled
from ops.corruptions.kernel import Image


def frost(images: Tensor, level: BatchLevel) -> Tensor:
    """Blend images and photographs in double precision; bit for bit the CPU kernel's result."""
    height, width = images.shape[2:]
    photographs = textures.found() if level.textures is None else level.textures
    scale = level.parameters["texture_scale"]
    stack, places = _stacked(_Photographs(photographs), scale, (height, width), images.device)
    which = level.draws.integers("texture", 0, DRAWN, 1)[:, 0]
    rows = level.draws.words("row", 1)[:, 0] * places[which, 0] >> 32
    columns = level.draws.words("column", 1)[:, 0] * places[which, 1] >> 32
    ice = windows(stack, which, rows, columns, (height, width)).to(torch.float64)
    mixed = images.to(torch.float64).mul_(level.parameters["image_weight"])
    mixed += ice.mul_(level.parameters["frost_weight"])
    return mixed.clamp_(max=255.0).to(torch.uint8)


class _Photographs:
    """Photographs that equal no others, however alike: so they can be told apart at no cost."""

    def __init__(self, images: tuple[Image, ...]) -> None:
        self.images = images

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.images)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Photographs) and list(map(id, self.images)) == list(
            map(id, other.images)
        )


@lru_cache(maxsize=4)
def _stacked(
    photographs: _Photographs, scale: float, size: tuple[int, int], device: torch.device
) -> tuple[Tensor, Tensor]:
    """The photographs in one tensor, filled up with black, and how many places each offers.

    Returns
    -------
    uint8 tensor, shape (photographs, 3, height, width)
        On the device.
    int64 tensor, shape (photographs, 2)
        Rows and columns that a cut-out of the size may begin at.
    """
    require_larger(photographs.images, scale, size)
    drawn = [scaled(image, scale) for image in photographs.images[:DRAWN]]
    height, width = (max(image.shape[axis] for image in drawn) for axis in (0, 1))
    stack = np.zeros((DRAWN, 3, height, width), np.uint8)
    for place, image in zip(stack, drawn, strict=True):
        place[:, : image.shape[0], : image.shape[1]] = image.transpose(2, 0, 1)
    places = [[image.shape[0] - size[0], image.shape[1] - size[1]] for image in drawn]
    return torch.from_numpy(stack).to(device), torch.tensor(places).to(device)
