"""Large pixels, on a batch: the box filter of Pillow's 8-bit resampling, down and up again."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions.batched.level import BatchLevel

# Pillow's weights have this many binary places.
_PLACES = 22


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
    total += 1 << (_PLACES - 1)
    return total.bitwise_right_shift_(_PLACES).to(torch.uint8)


@lru_cache(maxsize=64)
def _boxes(size: int, small: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Indices, int64 (taps, small), and fixed-point weights, int32 (taps, small), of each box."""
    scale = size / small
    centres = [(i + 0.5) * scale for i in range(small)]
    starts = [max(int(centre - scale / 2 + 0.5), 0) for centre in centres]
    stops = [min(int(centre + scale / 2 + 0.5), size) for centre in centres]
    taps = max(stop - start for start, stop in zip(starts, stops, strict=True))
    indices = [[min(start + i, size - 1) for start in starts] for i in range(taps)]
    weights = [
        [
            int(0.5 + (1 << _PLACES) / (stop - start)) if i < stop - start else 0
            for start, stop in zip(starts, stops, strict=True)
        ]
        for i in range(taps)
    ]
    return torch.tensor(indices).to(device), torch.tensor(weights, dtype=torch.int32).to(device)


@lru_cache(maxsize=64)
def _repeats(small: int, size: int, device: torch.device) -> Tensor:
    """The box that each of ``size`` pixels lies in."""
    return torch.tensor([int((i + 0.5) * (small / size)) for i in range(size)]).to(device)
