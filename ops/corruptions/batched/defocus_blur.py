"""Defocus blur on a batch: sums over the columns of a disk, its soft edge afterwards.

The parts of the kernel, and why it has them, are told in :mod:`ops.corruptions.disk_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.defocus_blur import disk_kernel, smoothing_side
from ops.corruptions.disk_sums import Disk, split_disk


def defocus_blur(images: Tensor, level: BatchLevel) -> Tensor:
    """Convolve with a softened disk; bit for bit the CPU kernel's result."""
    disk = _disk(level.parameters["radius"], level.parameters["alias_sigma"])
    size = (images.shape[2], images.shape[3])
    frame = _mirrored(images, disk.margin).to(torch.int32)
    sums = _disk_sums(frame, disk.heights[disk.columns].tolist(), len(disk.down) - 1, size)
    for dim, weights in ((2, disk.down), (3, disk.along)):
        sums = _softened(sums, weights.tolist(), dim, size[dim - 2])
    rim = _rim(frame, disk, size)
    if rim is not None:
        sums += rim
    return sums.clamp_(max=255.0).to(torch.uint8)


def _mirrored(images: Tensor, margin: int) -> Tensor:
    """Images with their mirror image around them (d c b | a b c d)."""
    for dim in (2, 3):
        size = images.shape[dim]
        places = torch.arange(-margin, size + margin, device=images.device).abs_()
        places = torch.minimum(places, 2 * (size - 1) - places)
        images = images.index_select(dim, places)
    return images


def _disk_sums(frame: Tensor, heights: Sequence[int], reach: int, size: tuple[int, int]) -> Tensor:
    """Sums over the disk about each pixel and those up to ``reach`` beyond the image, int32."""
    margin = len(heights) - 1 + reach
    height, width = (side + 2 * reach for side in size)
    running = torch.nn.functional.pad(frame.cumsum(2, dtype=torch.int32), (0, 0, 1, 0))
    first = margin - reach
    columns = {
        half: running.narrow(2, first + half + 1, height) - running.narrow(2, first - half, height)
        for half in set(heights)
    }
    total = columns[heights[0]].narrow(3, first, width).clone()
    for offset, half in enumerate(heights[1:], 1):
        total += columns[half].narrow(3, first - offset, width)
        total += columns[half].narrow(3, first + offset, width)
    return total


def _softened(fields: Tensor, weights: Sequence[float], dim: int, size: int) -> Tensor:
    """Weigh pairs about each of the ``size`` middle samples of a dimension, in double."""
    reach = len(weights) - 1
    fields = fields.to(torch.float64)
    total = fields.narrow(dim, reach, size) * weights[0]
    for offset in range(reach, 0, -1):
        before = fields.narrow(dim, reach - offset, size)
        pair = before + fields.narrow(dim, reach + offset, size)
        total += pair.mul_(weights[offset])
    return total


def _rim(frame: Tensor, disk: Disk, size: tuple[int, int]) -> Tensor | None:
    """What the rim's taps add, float32 of the images' shape; nothing where there is no rim."""
    margin = disk.margin
    rows = [
        frame.narrow(2, margin - row, size[0]) + frame.narrow(2, margin + row, size[0])
        for row in disk.rim_rows.tolist()
    ]
    total: Tensor | None = None
    taps = zip(disk.rim_taps.tolist(), disk.rim_weights.tolist(), strict=True)
    for (row, column), weight in reversed(list(taps)):
        before = rows[row].narrow(3, margin - column, size[1])
        tap = (before + rows[row].narrow(3, margin + column, size[1])) * weight
        total = tap if total is None else total.add_(tap)
    return total


@lru_cache(maxsize=64)
def _disk(radius: float, alias_sigma: float) -> Disk:
    side = smoothing_side(radius)
    return split_disk(disk_kernel(radius, alias_sigma), radius, alias_sigma, side)
