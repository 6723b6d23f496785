"""The laws of keyed draws on a device: the tables of :mod:`ops.corruptions.laws`."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions import laws


@lru_cache(maxsize=8)
def normal(device: torch.device) -> Tensor:
    """The normal number of each half, float64 of shape (65536,)."""
    return torch.tensor(laws.normal()).to(device)
