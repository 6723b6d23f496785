"""Noise on a batch: gaussian, shot, impulse and speckle, from the tables of the CPU kernels.

Here: what looks up a number for each sample. The tables themselves, and what they stand for, are
in the file of each corruption.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions import laws
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.gaussian_noise import shifts
from ops.corruptions.shot_noise import columns
from ops.corruptions.speckle_noise import factors


def gaussian_noise(images: Tensor, level: BatchLevel) -> Tensor:
    """Add whole grey levels."""
    table = _shifts(level.parameters["sigma"], images.device)
    return table[_halves(images, level, "noise")].add_(images).clamp_(0, 255).to(torch.uint8)


def speckle_noise(images: Tensor, level: BatchLevel) -> Tensor:
    """Multiply by single-precision factors."""
    table = _factors(level.parameters["sigma"], images.device)
    return table[_halves(images, level, "noise")].mul_(images).clamp_(0, 255).to(torch.uint8)


def shot_noise(images: Tensor, level: BatchLevel) -> Tensor:
    """Look up the count of photons, one alias table for each grey level."""
    table, shift = _columns(level.parameters["photons"], images.device)
    halves = _halves(images, level, "counts")
    column = table[(halves >> shift).add_(images, alpha=len(table) // 256)]
    own = (halves & ((1 << shift) - 1)) < (column & 0xFFFF)
    return torch.where(own, column >> 16, column >> 24).to(torch.uint8)


def impulse_noise(images: Tensor, level: BatchLevel) -> Tensor:
    """Compare 16 bits with two thresholds."""
    threshold = laws.impulse_threshold(level.parameters["amount"])
    halves = _halves(images, level, "impulses")
    return images.masked_fill(halves < 2 * threshold, 0).masked_fill_(halves < threshold, 255)


def _halves(images: Tensor, level: BatchLevel, purpose: str) -> Tensor:
    """One half-word for each sample, int64 of the images' shape: channels vary fastest."""
    count, channels, height, width = images.shape
    halves = level.draws.halves(purpose, channels * height * width)
    return halves.reshape(count, height, width, channels).permute(0, 3, 1, 2)


@lru_cache(maxsize=64)
def _shifts(sigma: float, device: torch.device) -> Tensor:
    return torch.from_numpy(shifts(sigma)).to(device)


@lru_cache(maxsize=64)
def _factors(sigma: float, device: torch.device) -> Tensor:
    return torch.from_numpy(factors(sigma)).to(device)


@lru_cache(maxsize=64)
def _columns(photons: float, device: torch.device) -> tuple[Tensor, int]:
    """The packed columns of all grey levels, int64, and the bits below those of a column."""
    table, shift = columns(photons)
    return torch.from_numpy(table.astype("int64")).to(device), shift
