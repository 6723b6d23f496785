"""Glass blur on a batch: where each pixel comes from is found first, then all are moved at once."""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.gaussian_blur import blurred_levels
from ops.corruptions.batched.glass_sources import sources
from ops.corruptions.batched.keyed import BatchDraws
from ops.corruptions.batched.level import BatchLevel


def glass_blur(images: Tensor, level: BatchLevel) -> Tensor:
    """Blur, copy pixels from near by, blur again; bit for bit the CPU kernel's result."""
    sigma, delta = level.parameters["sigma"], level.parameters["max_delta"]
    count, channels, height, width = images.shape
    passes = level.parameters["iterations"]
    inner = (height - 2 * delta, width - 2 * delta)
    codes = _codes(level.draws, 2 * delta, passes * inner[0] * inner[1])
    # Pixels are visited from the last to the first, the order in which they are drawn for.
    codes = codes.reshape(count, passes, *inner).flip((2, 3))
    shifts_down = torch.div(codes, 2 * delta, rounding_mode="floor") - delta
    shifts_right = codes % (2 * delta) - delta
    found, *later = (
        sources(shifts_right[:, i], shifts_down[:, i], delta + 1, height, width)
        for i in range(passes)
    )
    for step in later:
        found = found.gather(1, step)
    softened = blurred_levels(images, sigma).flatten(2)
    moved = softened.gather(2, found[:, None].expand(-1, channels, -1))
    return blurred_levels(moved.reshape(images.shape), sigma)


def _codes(draws: BatchDraws, side: int, copies: int) -> Tensor:
    """Displacements as :mod:`ops.corruptions.glass_blur` numbers them.

    Parameters
    ----------
    draws : BatchDraws
        Of the images.
    side : int
        Displacements along one axis.
    copies : int
        Codes for each image.

    Returns
    -------
    int64 tensor, shape (images, copies)
        In [0, side * side), in the order of the copies.
    """
    choices = side * side
    if 256 % choices == 0:
        words = draws.words("shifts", -(-copies // 4))
        octets = torch.stack([words >> shift for shift in (0, 8, 16, 24)], 2)
        return octets.flatten(1)[:, :copies] & (choices - 1)
    words = draws.words("shifts", -(-copies // 2))
    pairs = (words * (choices * choices)) >> 32
    firsts = torch.div(pairs, choices, rounding_mode="floor")
    return torch.cat((firsts, pairs - firsts * choices), 1)[:, :copies]
