"""Large pixels, on a batch: the box filter of Pillow's 8-bit resampling, down and up again."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.pixelate import WEIGHT_BITS, boxes_of


def pixelate(images: Tensor, level: BatchLevel) -> Tensor:
    """Average boxes of pixels and repeat each mean; bit for bit that of the CPU kernel."""
    height, width = images.shape[2:]
    side = int(height * level.parameters["scale"])
    small = _shrunk(images, 3, *_boxes(width, side, images.device))
    small = _shrunk(small, 2, *_boxes(height, side, images.device))
    rows, columns = (_repeats(side, size, images.device) for size in (height, width))
    return small.index_select(2, rows).index_select(3, columns)


def _shrunk(images: Tensor, dim: int, indices: Tensor, weights: Tensor) -> Tensor:
    """Weighted sums of neighbours along one dimension, rounded to 8 bits."""
    shape = [1, 1, 1, 1]
    shape[dim] = -1
    total: Tensor
    others: list[Tensor]
    total, *others = (
        images.index_select(dim, places) * weight.reshape(shape)
        for places, weight in zip(indices, weights, strict=True)
    )
    for other in others:
        total += other
    total += 1 << (WEIGHT_BITS - 1)
    return total.bitwise_right_shift_(WEIGHT_BITS).to(torch.uint8)


@lru_cache(maxsize=64)
def _boxes(size: int, small: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Indices, int64 (taps, small), and fixed-point weights, int32 (taps, small), of each box."""
    first, count, weight, _ = boxes_of(size, small)
    place = np.arange(count.max())[:, None]
    indices = np.minimum(first.astype(np.int64) + place, size - 1)
    weights = np.where(place < count, weight, 0)
    return torch.from_numpy(indices).to(device), torch.from_numpy(weights).to(device)


@lru_cache(maxsize=64)
def _repeats(small: int, size: int, device: torch.device) -> Tensor:
    """The box that each of ``size`` pixels lies in, int64 of shape (size,)."""
    return torch.from_numpy(boxes_of(size, small)[3].astype(np.int64)).to(device)
