"""The image that sequences are made from, and what several of them share."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ops.perturbations import facts
from ops.pixels import crop_offset

Image = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]


class Source:
    """An image that was resized and not yet cropped.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
        RGB, the shorter side 256; never written to.
    """

    def __init__(self, pixels: Image) -> None:
        self.pixels = pixels
        self.size = facts.size()
        self.height, self.width = pixels.shape[:2]
        self.top, self.left = (
            crop_offset(self.height, self.size),
            crop_offset(self.width, self.size),
        )

    @cached_property
    def clean(self) -> Image:
        """The centre of 224 pixels, contiguous."""
        rows = slice(self.top, self.top + self.size)
        return np.ascontiguousarray(self.pixels[rows, self.left : self.left + self.size])

    @cached_property
    def repeated(self) -> Words:
        """The pixels as words, low byte red, in a frame of one pixel that repeats the edge."""
        return np.pad(self._words, 1, mode="edge")

    @cached_property
    def blackened(self) -> Words:
        """The pixels as words in black: one pixel before the first, two after the last."""
        return np.pad(self._words, (1, 2))

    @cached_property
    def _words(self) -> Words:
        quads = np.zeros((self.height, self.width, 4), np.uint8)
        quads[..., :3] = self.pixels
        words: Words = quads.view("<u4")[..., 0].astype(np.uint32, copy=False)
        return words

    def frames(self, count: int) -> Image:
        """Room for frames, uint8 of shape (count, 224, 224, 3), not initialised."""
        return np.empty((count, self.size, self.size, 3), np.uint8)
