"""Gaussian blur of a batch in the CPU kernels' order of operations.

Here: the two passes over fields, as :mod:`ops.corruptions.gaussian` makes them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.gaussian import Border, gaussian_pairs


def blurred(
    fields: Tensor, sigma: float, *, truncate: float = 4.0, border: Border = "nearest"
) -> Tensor:
    """Blur fields along rows and columns, in their own precision.

    Parameters
    ----------
    fields : float32 or float64 tensor, shape (images, channels, height, width)
    sigma, truncate : float
        As for :func:`ops.corruptions.gaussian.gaussian_pairs`.
    border : "nearest" or "reflect"
        What lies beyond an edge: its last sample, or its mirror image (d c b a | a b c d).

    Returns
    -------
    tensor
        Of the fields' shape and precision, with the bits of
        :func:`ops.corruptions.gaussian.blur_field`.
    """
    for dim in (2, 3):
        fields = blurred_along(dim, fields, sigma, truncate=truncate, border=border)
    return fields


def blurred_along(
    dim: int, fields: Tensor, sigma: float, *, truncate: float = 4.0, border: Border = "nearest"
) -> Tensor:
    """Blur fields along one dimension; else as `blurred`."""
    weights: list[float] = gaussian_pairs(sigma, truncate).tolist()
    radius, size = len(weights) - 1, fields.shape[dim]
    places = torch.arange(-radius, size + radius, device=fields.device)
    if border == "reflect":
        places = places.remainder_(2 * size)
        places = torch.minimum(places, 2 * size - 1 - places)
    else:
        places = places.clamp_(0, size - 1)
    source = fields.index_select(dim, places)
    total = fields * weights[0]
    pair = torch.empty_like(fields)
    # The outermost pair first. Product and sum stay apart: fused, their last bit would change.
    for offset in range(radius, 0, -1):
        before = source.narrow(dim, radius - offset, size)
        after = source.narrow(dim, radius + offset, size)
        torch.add(before, after, out=pair)
        total += pair.mul_(weights[offset])
    return total
