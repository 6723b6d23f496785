"""Division by a plain number that gives the same bits on every device."""

from __future__ import annotations

import torch
from torch import Tensor


def divided(dividends: Tensor, divisor: float) -> Tensor:
    """Quotients, each rounded once.

    Parameters
    ----------
    dividends : float32 or float64 tensor
        Of any shape.
    divisor : float
        Not zero.

    Returns
    -------
    tensor
        Of the dividends' shape and precision. ``dividends / divisor`` is something else on a CUDA
        device: there torch multiplies by the rounded reciprocal of a divisor that is no tensor.
    """
    return dividends / torch.full((), divisor, dtype=dividends.dtype, device=dividends.device)
