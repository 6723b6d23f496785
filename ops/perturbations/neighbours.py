"""The four pixels about each place in a row of a frame, and a row of pixels as samples.

Here: what every bilinear interpolation does besides its arithmetic, on pixels as words of 32 bits
(red lowest). Where a row looks, and how it weighs, is in :mod:`ops.perturbations.affine` and
:mod:`ops.perturbations.tilt`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.perturbations.source import Image, Words


@compiled(inline=True)
def fetch(words: Words, stride: int, place: npt.NDArray[np.int32], near: Words) -> None:
    """Fetch the pixels at, right of, below, and below right of each place.

    Parameters
    ----------
    words : uint32 array, shape (pixels,)
        Of an image, row after row.
    stride : int
        Pixels of a row of the image.
    place : int32 array, shape (n,)
        Indices of pixels; negative ones stand for black.
    near : uint32 array, shape (4, n)
        Written whole.
    """
    for i in range(place.size):
        at = place[i]
        if at < 0:
            near[0, i] = near[1, i] = near[2, i] = near[3, i] = 0
        else:
            near[0, i], near[1, i] = words[at], words[at + 1]
            near[2, i], near[3, i] = words[at + stride], words[at + stride + 1]


@compiled(inline=True)
def spread(words: Words, out: Image) -> None:
    """Write the three lower bytes of words, uint32 (n,), as samples, uint8 (n, 3)."""
    samples = words.view(np.uint8)
    for i in range(words.size):
        for channel in range(3):
            out[i, channel] = samples[4 * i + channel]
