"""The sum that bilinear sampling of a batch needs, in the compiled kernels' order of operations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def weigh_four(images: Tensor, corners: Sequence[tuple[Tensor, Sequence[Tensor]]]) -> Tensor:
    """Sum samples, each times its weights one after the other, corner by corner.

    Parameters
    ----------
    images : float32 tensor, shape (images, channels, height, width)
    corners : sequence of (Tensor, sequence of Tensor)
        For each corner where its samples lie in raster order, int64 of shape (images, height,
        width), and the factors of its weight, floats of that shape.

    Returns
    -------
    tensor, shape (images, channels, height, width)
        In the precision of the weights.
    """
    channels, flat = images.shape[1], images.flatten(2).to(corners[0][1][0].dtype)
    total = torch.zeros_like(flat)
    for places, weights in corners:
        samples = flat.gather(2, places.flatten(1)[:, None].expand(-1, channels, -1))
        for weight in weights:
            samples *= weight.flatten(1)[:, None]
        total += samples
    return total.reshape(images.shape)
