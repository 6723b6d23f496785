"""Affine warps of a batch as OpenCV 2 to 4 computed them, each image by a matrix of its own.

Their arithmetic is told in :mod:`ops.corruptions.affine`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ops.corruptions.affine import PLACE_BITS, SUM_BITS
from ops.corruptions.batched.four_corners import weigh_four


def warp_affine(images: Tensor, matrices: Tensor) -> Tensor:
    """Warp images; beyond their edges they are mirrored about their outermost pixels.

    Parameters
    ----------
    images : float32 tensor, shape (images, channels, height, width)
    matrices : float64 tensor, shape (images, 2, 3)
        Take (x, y, 1) of the image to (x, y) of the result.

    Returns
    -------
    float32 tensor, shape (images, channels, height, width)
        With the bits of :func:`ops.corruptions.affine.warp_affine`.
    """
    height, width = images.shape[2:]
    back = _inverses(matrices).mul_(1 << SUM_BITS)
    columns, rows = (torch.arange(n, device=images.device) for n in (width, height))
    along = (back[:, :, :1] * columns).round_().to(torch.int64)
    down = (back[:, :, 1:2] * rows).add_(back[:, :, 2:]).round_().to(torch.int64)
    places = (down[:, :, :, None] + along[:, :, None, :]).add_(1 << (SUM_BITS - PLACE_BITS - 1))
    x, y = (places >> (SUM_BITS - PLACE_BITS)).unbind(1)
    steps = 1 << PLACE_BITS
    right, lower = ((p & (steps - 1)).to(torch.float32).mul_(1 / steps) for p in (x, y))
    left, upper = 1.0 - right, 1.0 - lower
    x, y = x >> PLACE_BITS, y >> PLACE_BITS
    near, after = (_mirrored(p, width) for p in (x, x + 1))
    above, below = (_mirrored(p, height).mul_(width) for p in (y, y + 1))
    return weigh_four(
        images,
        (
            (above + near, (upper * left,)),
            (above + after, (upper * right,)),
            (below + near, (lower * left,)),
            (below + after, (lower * right,)),
        ),
    )


def _inverses(matrices: Tensor) -> Tensor:
    """The ways back, by OpenCV's own sequence of roundings."""
    (a, b, c), (d, e, f) = (row.unbind(1) for row in matrices.unbind(1))
    scale = 1.0 / (a * e - b * d)
    a, e = e * scale, a * scale
    b, d = b * -scale, d * -scale
    return torch.stack((a, b, -a * c - b * f, d, e, -d * c - e * f), 1).reshape(-1, 2, 3)


def _mirrored(places: Tensor, size: int) -> Tensor:
    places = places.remainder(2 * (size - 1))
    return torch.minimum(places, 2 * (size - 1) - places)
