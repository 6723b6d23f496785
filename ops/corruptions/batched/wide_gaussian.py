"""Gaussian blurs as wide as the field, on a batch: a product with a matrix from either side.

In double precision: a CUDA device may be set to round the factors of single-precision products to
10 bits. The CPU's kernel (:mod:`ops.corruptions.wide_gaussian`) sums cosines in single precision;
the two differ by what that costs, some millionths of the field's greatest value.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions.batched.gaussian import blurred_along


def blurred_wide(fields: Tensor, sigma: float, *, truncate: float = 4.0) -> Tensor:
    """Blur square fields, mirrored at their edges (d c b a | a b c d).

    Parameters
    ----------
    fields : tensor, shape (images, size, size)
    sigma, truncate : float
        As for :func:`ops.corruptions.gaussian.gaussian_pairs`.

    Returns
    -------
    float64 tensor, shape (images, size, size)
    """
    matrix = _matrix(fields.shape[1], sigma, truncate, fields.device)
    return matrix @ fields.to(torch.float64) @ matrix.T


@lru_cache(maxsize=32)
def _matrix(size: int, sigma: float, truncate: float, device: torch.device) -> Tensor:
    """What a column of samples is multiplied by: the blurred columns of the unit matrix."""
    units = torch.eye(size, dtype=torch.float64)
    return blurred_along(0, units, sigma, truncate=truncate, border="reflect").to(device)
