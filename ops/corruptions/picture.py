"""One source image and what several corruptions of it share, made when first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt


class Picture:
    """An image to be corrupted.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
        RGB, C-contiguous; never written to.
    """

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        self.pixels = pixels

    @cached_property
    def planes(self) -> npt.NDArray[np.float32]:
        """The channels one after the other, float32 of shape (3, height, width) in [0, 255]."""
        return np.ascontiguousarray(self.pixels.transpose(2, 0, 1), np.float32)
