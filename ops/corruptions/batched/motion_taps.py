"""Motion blur along each image's own direction: ImageMagick's taps, for a batch.

Here: the taps and the sum over them, for motion_blur and snow. Their definition is in
:mod:`ops.corruptions.motion_taps`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.windows import padded, windows
from ops.corruptions.motion_taps import motion_taps


def motion_blurred(images: Tensor, radius: float, sigma: float, angles: Tensor) -> Tensor:
    """Blur in float32, with the bits of :func:`ops.corruptions.motion_taps.blur_fast`.

    Parameters
    ----------
    images : uint8 tensor, shape (images, channels, height, width)
        RGB or gray.
    radius, sigma : float
        In pixels; there are ``2 * ceil(radius) + 1`` taps.
    angles : float64 tensor, shape (images,)
        In degrees, clockwise from the right.

    Returns
    -------
    uint8 tensor, shape (images, channels, height, width)
    """
    weights = motion_taps(radius, sigma, 0.0).weights.tolist()
    taps = len(weights)
    margin = taps - 1
    # The offsets' own order of operations: a last bit decides where half a pixel falls.
    radians = divided(math.pi * angles, 180.0)
    down, right = taps * radians.sin(), taps * radians.cos()
    length = torch.hypot(down, right)
    places = torch.arange(taps, device=images.device)[:, None]
    rows, columns = (
        (places * side).div_(length).sub_(0.5).ceil_().long().add_(margin) for side in (down, right)
    )
    source = padded(images, margin)
    which = torch.arange(len(images), device=images.device)
    size = (images.shape[2], images.shape[3])
    total = torch.zeros(images.shape, dtype=torch.float32, device=images.device)
    for i in range(taps):
        tap = windows(source, which, rows[i], columns[i], size)
        # Not in one operation: fused, the last bit would hang on the device.
        total += tap * weights[i]
    return total.add_(0.5 / 257).to(torch.uint8)
