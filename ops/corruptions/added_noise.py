"""An image plus noise in double precision, as gaussian_noise and speckle_noise add it exactly."""

from __future__ import annotations

import numpy as np

from ops.compiled import compiled
from ops.corruptions.draws import Doubles
from ops.corruptions.kernel import Image


@compiled()
def _add(pixels: Image, noise: Doubles, relative: bool, out: Image) -> None:
    for row in range(pixels.shape[0]):
        samples, shifts, results = pixels[row], noise[row], out[row]
        for i in range(samples.size):
            level = samples[i] / 255.0
            value = level + (level * shifts[i] if relative else shifts[i])
            results[i] = np.uint8(min(max(value, 0.0), 1.0) * 255.0)


def add(image: Image, noise: Doubles, *, relative: bool = False) -> Image:
    """``image / 255 + noise`` clipped to [0, 1], times 255, truncated.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        C-contiguous.
    noise : float64 array, shape (height, width, 3)
        C-contiguous.
    relative : bool
        Whether the noise is a fraction of each sample.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The noisy image.
    """
    out = np.empty_like(image)
    rows = len(image)
    _add(image.reshape(rows, -1), noise.reshape(rows, -1), relative, out.reshape(rows, -1))
    return out
