"""Fog on a batch: a cloud map for each image, in the CPU kernel's order of operations."""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.diamond_square import FIRST_AMPLITUDE


def fog(images: Tensor, level: BatchLevel) -> Tensor:
    """Add clouds and darken to the maximum before; bit for bit the CPU kernel's result."""
    height, width = images.shape[2:]
    size, strength = level.parameters["map_size"], level.parameters["strength"]
    words = level.draws.words("heights", size * size - 1)
    cloud = heights((words >> 8).to(torch.float32).mul_(2.0**-24), size, level.parameters["decay"])
    low, high = (end.to(torch.float64) for end in cloud.flatten(1).aminmax(dim=1))
    brightest = divided(images.flatten(1).amax(1).to(torch.float64), 255.0)
    darkened = brightest / (brightest + strength)
    gain = 255.0 * strength * darkened / (high - low)
    low, darkened, gain = (
        each.to(torch.float32)[:, None, None, None] for each in (low, darkened, gain)
    )
    added = cloud[:, None, :height, :width].sub(low).mul_(gain)
    return (images * darkened).add_(added).to(torch.uint8)


def heights(uniform: Tensor, size: int, decay: float) -> Tensor:
    """Cloud maps of several images, as :func:`ops.corruptions.diamond_square.heights` makes one.

    Parameters
    ----------
    uniform : float32 or float64 tensor, shape (images, size * size - 1)
        Uniform numbers of [0, 1), in the order told there.
    size : int
        Side of the maps, a power of two.
    decay : float
        What the amplitude is divided by after each step.

    Returns
    -------
    tensor, shape (images, size, size)
        Heights in the precision of the numbers, of no particular range.
    """
    images = len(uniform)
    coarse = uniform.new_zeros(images, 1, 1)
    amplitude, first = FIRST_AMPLITUDE, 0
    while (n := coarse.shape[1]) < size:
        noise = uniform[:, first : first + 3 * n * n].reshape(images, 3, n, n)
        noise = noise.mul(2 * amplitude).add_(-amplitude).mul_(amplitude)
        squares = coarse + coarse.roll(-1, 1)
        centres = squares.add(squares.roll(-1, 2)).mul_(0.25).add_(noise[:, 0])
        on_rows = centres.add(centres.roll(1, 1)).add_(coarse + coarse.roll(-1, 2))
        on_columns = centres.add(centres.roll(1, 2)).add_(squares)
        fine = uniform.new_empty(images, n, 2, n, 2)
        fine[:, :, 0, :, 0] = coarse
        fine[:, :, 1, :, 1] = centres
        torch.add(on_rows.mul_(0.25), noise[:, 1], out=fine[:, :, 0, :, 1])
        torch.add(on_columns.mul_(0.25), noise[:, 2], out=fine[:, :, 1, :, 0])
        coarse = fine.reshape(images, 2 * n, 2 * n)
        first += 3 * n * n
        amplitude /= decay
    return coarse
