"""A zoom into the middle of square images that keeps their size, on a batch.

Here: the coordinates of :mod:`ops.corruptions.clipped_zoom` as tensors, and the zoom of layers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from ops.corruptions.clipped_zoom import zoom_axis


class AxisTensors(NamedTuple):
    """The samples each output sample lies between, int64 (size,), and their weights."""

    first: Tensor
    following: Tensor
    near: Tensor
    far: Tensor


@lru_cache(maxsize=256)
def axis_tensors(size: int, factor: float, dtype: torch.dtype, device: torch.device) -> AxisTensors:
    """:func:`ops.corruptions.clipped_zoom.zoom_axis` on a device."""
    axis = zoom_axis(size, factor)
    first, following = (torch.tensor(each).to(device) for each in (axis.first, axis.next))
    near, far = (torch.tensor(each).to(dtype).to(device) for each in (axis.near, axis.far))
    return AxisTensors(first, following, near, far)


def clipped_zoom(layers: Tensor, factor: float) -> Tensor:
    """Zoom into the middle of square layers.

    Parameters
    ----------
    layers : float32 or float64 tensor, shape (..., size, size)
    factor : float
        Magnification, at least 1.

    Returns
    -------
    tensor
        Of the layers' shape and precision, with the bits of
        :func:`ops.corruptions.clipped_zoom.clipped_zoom`.
    """
    axis = axis_tensors(layers.shape[-1], factor, layers.dtype, layers.device)
    upper = layers.index_select(-2, axis.first) * axis.near[:, None]
    lower = layers.index_select(-2, axis.following) * axis.far[:, None]
    total = upper.index_select(-1, axis.first) * axis.near
    total += upper.index_select(-1, axis.following) * axis.far
    total += lower.index_select(-1, axis.first) * axis.near
    total += lower.index_select(-1, axis.following) * axis.far
    return total
