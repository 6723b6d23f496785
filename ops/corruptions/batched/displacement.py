"""Pixels of a batch fetched from where each image's own displacement field points.

The arithmetic is that of :mod:`ops.corruptions.displacement`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.batched.four_corners import weigh_four


def displace(images: Tensor, across: Tensor, down: Tensor) -> Tensor:
    """Fetch each pixel from elsewhere, bilinearly; beyond their edges the images are mirrored.

    Parameters
    ----------
    images : float32 tensor, shape (images, channels, height, width)
        In [0, 1].
    across, down : float32 tensors, shape (images, height, width)
        How far to the right and down of a pixel its value is fetched, in pixels.

    Returns
    -------
    uint8 tensor, shape (images, channels, height, width)
        With the bits of :func:`ops.corruptions.displacement.displace`, but that beyond the edges
        samples are mirrored and not places: there sums in double may differ in their last bit.
    """
    height, width = images.shape[2:]
    rows = torch.arange(height, dtype=torch.float64, device=images.device)
    columns = torch.arange(width, dtype=torch.float64, device=images.device)
    left, right, near, after = _between(across + columns, width)
    upper, lower, above, below = _between(down + rows[:, None], height)
    above, below = above * width, below * width
    found = weigh_four(
        images,
        (
            (above + near, (upper, left)),
            (above + after, (upper, right)),
            (below + near, (lower, left)),
            (below + after, (lower, right)),
        ),
    )
    return found.to(torch.float32).clamp_(max=1.0).mul_(255.0).to(torch.uint8)


def _between(places: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights and indices of the two samples that each place lies between."""
    before = places.floor()
    near = (before - places).add_(1.0)
    index = before.to(torch.int64)
    return near, 1.0 - near, _sample(index, size), _sample(index + 1, size)


def _sample(indices: Tensor, size: int) -> Tensor:
    """Indices of samples that those beyond the edges mirror (d c b a | a b c d)."""
    indices = indices.remainder(2 * size)
    return torch.minimum(indices, 2 * size - 1 - indices)
