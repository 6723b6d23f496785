"""Translate, rotate, scale, shear, zoom blur and tilt: the same places in every image of a batch.

Here: where each frame looks, as indices and weights on the device, with the bits of the CPU
kernels, whose files say what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.perturbations import facts
from ops.perturbations.affine import inverse_map
from ops.perturbations.batched.level import BatchLevel, centre, corner
from ops.perturbations.tilt import inverse_projection


def translate(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Whole pixels; bit for bit the CPU kernel's result."""
    size, width = facts.size(), images.shape[3]
    top, left = corner(images)
    for pixels in level.sweep("pixels"):
        start = left - int(pixels)
        first, end = max(start, 0), min(start + size, width)
        frame = images.new_zeros((len(images), 3, size, size))
        rows = images[:, :, top : top + size]
        frame[..., first - start : end - start] = rows[..., first:end]
        yield frame


def rotate(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In double precision; bit for bit the CPU kernel's result."""
    where = partial(inverse_map, *images.shape[2:])
    return (_warped(images, where(angle=angle)) for angle in level.sweep("angle"))


def scale(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In double precision; bit for bit the CPU kernel's result."""
    where = partial(inverse_map, *images.shape[2:])
    return (_warped(images, where(scale=size / 100.0)) for size in level.sweep("percent"))


def shear(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In double precision; bit for bit the CPU kernel's result."""
    where = partial(inverse_map, *images.shape[2:])
    return (_warped(images, where(shear=angle)) for angle in level.sweep("angle"))


def zoom_blur(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Summed in single precision; bit for bit the CPU kernel's result."""
    clean = centre(images)
    yield clean
    total = divided(clean.to(torch.float32), 255.0)
    for frame, factor in enumerate(level.sweep("factor")[1:], start=1):
        zoomed = _warped(images, inverse_map(*images.shape[2:], scale=factor))
        total += divided(zoomed.to(torch.float32), 255.0)
        yield divided(total, frame + 1).mul_(255.0).to(torch.uint8)


def tilt(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """In integers; bit for bit the CPU kernel's result."""
    # One pixel of black before the first, two after the last.
    black = torch.nn.functional.pad(images, (1, 2, 1, 2))
    for angle in level.sweep("angle"):
        yield _projected(images, black, inverse_projection(images.shape[2], images.shape[3], angle))


def _warped(images: Tensor, inverse: np.ndarray) -> Tensor:
    """Bilinear interpolation in double precision, truncated; black beyond the edge."""
    height, width = images.shape[2:]
    rows, columns = (place + 0.5 for place in _places(images))
    a, b, c, d, e, f = inverse.tolist()
    column = (a * columns + b * rows).add_(c)
    line = (d * columns + e * rows).add_(f)
    inside = (column >= 0.0) & (column < width) & (line >= 0.0) & (line < height)
    left, right, to_right = _between(column.sub_(0.5), width)
    upper, lower, to_down = _between(line.sub_(0.5), height)
    flat = images.flatten(2)

    def at(line: Tensor, column: Tensor) -> Tensor:
        return flat[:, :, line * width + column].to(torch.float64)

    # Product and sum stay apart: fused, their last bit would change.
    above, below = at(upper, left), at(lower, left)
    above += at(upper, right).sub_(above).mul_(to_right)
    below += at(lower, right).sub_(below).mul_(to_right)
    above += below.sub_(above).mul_(to_down)
    return above.mul_(inside).to(torch.uint8)


def _between(places: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The samples before and after, the edge repeated, and how far from the first."""
    whole = places.floor()
    before = whole.long()
    return before.clamp(0, size - 1), (before + 1).clamp_(0, size - 1), places - whole


def _projected(images: Tensor, black: Tensor, inverse: np.ndarray) -> Tensor:
    """Interpolation at 32nds of a pixel; `black` is the images in their black frame."""
    height, width = images.shape[2:]
    rows, columns = _places(images)
    block, rest = (columns // 64 * 64).double(), (columns % 64).double()
    a, b, c, d, e, f, g, h, i = inverse.tolist()
    across, along, depth = (
        (x * block + y * rows).add_(one).add_(x * rest)
        for x, y, one in ((a, b, c), (d, e, f), (g, h, i))
    )
    per_pixel = torch.full_like(depth, 32.0).div_(depth)
    column, line = (place.mul_(per_pixel).round_().long() for place in (across, along))
    to_right, to_down = (column & 31).int(), (line & 31).int()
    column, line = column >> 5, line >> 5
    column = torch.where((column < -1) | (column > width), width, column) + 1
    line = torch.where((line < -1) | (line > height), height, line) + 1
    flat, stride = black.flatten(2), width + 3

    def at(down: int, right: int) -> Tensor:
        return flat[:, :, (line + down) * stride + column + right].int()

    above = at(0, 0).mul_(32 - to_right).add_(at(0, 1).mul_(to_right))
    below = at(1, 0).mul_(32 - to_right).add_(at(1, 1).mul_(to_right))
    return (above.mul_(32 - to_down).add_(below.mul_(to_down)).add_(512) >> 10).to(torch.uint8)


def _places(images: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (224, 1) and columns (1, 224) of the frame's pixels in the images, float64."""
    steps = torch.arange(facts.size(), device=images.device, dtype=torch.float64)
    top, left = corner(images)
    return (steps + top)[:, None], (steps + left)[None]
