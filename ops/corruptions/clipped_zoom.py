"""A zoom into the middle of a square image that keeps its size: SciPy's, order 1, aligned corners.

Here: where each output sample looks, and the zoom of one image; snow zooms its layer so. Not
here: zoom_blur's sum over many zooms, which takes only the coordinates from this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled

_Floats = TypeVar("_Floats", npt.NDArray[np.float32], npt.NDArray[np.float64])


@dataclass(frozen=True)
class Axis:
    """Where the samples of a zoomed image lie along either axis of its source.

    Parameters
    ----------
    first : int64 array, shape (size,)
        The source sample at or before each output sample.
    near, far : float64 array, shape (size,)
        Weights of that sample and of the next; both 0 where SciPy sees a position beyond the
        last sample by a rounding error and gives 0.
    """

    first: npt.NDArray[np.int64]
    near: npt.NDArray[np.float64]
    far: npt.NDArray[np.float64]

    @property
    def next(self) -> npt.NDArray[np.int64]:
        """The source sample after `first`, or `first` itself where it has no weight."""
        return self.first + (self.far > 0)


@lru_cache(maxsize=256)
def zoom_axis(size: int, factor: float) -> Axis:
    """Lay out a zoom of an axis about its middle.

    Parameters
    ----------
    size : int
        Samples of the axis, before and after.
    factor : float
        Magnification, at least 1.

    Returns
    -------
    Axis
        Of `size` samples: the middle ``ceil(size / factor)`` source samples are spread over
        ``round(ceil(size / factor) * factor)``, ends on ends, and the middle of those is kept.
    """
    cropped = math.ceil(size / float(factor))
    begin = (size - cropped) // 2
    zoomed = round(cropped * factor)
    trimmed = (zoomed - size) // 2
    step = (cropped - 1) / (zoomed - 1)
    positions = np.arange(trimmed, trimmed + size) * step
    first = np.floor(positions).astype(np.int64)
    near = 1.0 - (positions - first)
    far = 1.0 - near  # SciPy makes the last weight of what the others leave
    beyond = positions > cropped - 1
    near[beyond] = far[beyond] = 0.0
    for array in (first, near, far):
        array.setflags(write=False)
    return Axis(np.minimum(first, cropped - 1) + begin, near, far)


def clipped_zoom(layer: _Floats, factor: float) -> _Floats:
    """Zoom into the middle of a square layer.

    Parameters
    ----------
    layer : float32 or float64 array, shape (size, size)
        The layer.
    factor : float
        Magnification, at least 1.

    Returns
    -------
    array, shape (size, size)
        In the layer's precision; to the bit what ``scipy.ndimage.zoom(order=1)`` gives for the
        middle of a float64 layer.
    """
    axis = zoom_axis(layer.shape[0], factor)
    near, far = axis.near.astype(layer.dtype), axis.far.astype(layer.dtype)
    out = np.empty_like(layer)
    _zoom(layer, axis.first, axis.next, near, far, out)
    return out


@compiled()
def _zoom(
    layer: npt.NDArray[Any],
    first: npt.NDArray[np.int64],
    following: npt.NDArray[np.int64],
    near: npt.NDArray[Any],
    far: npt.NDArray[Any],
    out: npt.NDArray[Any],
) -> None:
    """Interpolate each sample; rows are weighted before columns, as in SciPy."""
    size = len(first)
    upper = np.empty(layer.shape[1], layer.dtype)
    lower = np.empty(layer.shape[1], layer.dtype)
    for row in range(size):
        above, below = layer[first[row]], layer[following[row]]
        weight_above, weight_below = near[row], far[row]
        for column in range(layer.shape[1]):
            upper[column] = above[column] * weight_above
            lower[column] = below[column] * weight_below
        line = out[row]
        for column in range(size):
            left, right = first[column], following[column]
            a, b = near[column], far[column]
            top = upper[left] * a + upper[right] * b
            line[column] = (top + lower[left] * a) + lower[right] * b
