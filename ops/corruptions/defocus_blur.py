"""Defocus blur: the mean over a disk with softened edges.

Here: the kernel as published and the convolution as published. How it is computed faster is in
:mod:`ops.corruptions.disk_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from ops.corruptions import stored_kernels
from ops.corruptions.disk_sums import (
    Disk,
    Layout,
    disk_blur,
    framed,
    lay_out,
    sampled_gaussian,
    softened,
    split_disk,
)
from ops.corruptions.kernel import Image, Level


def exact(image: Image, level: Level) -> Image:
    """Convolve in double precision.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``radius`` and ``alias_sigma``, in pixels.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The blurred image. Where the soft edge of the disk leaves the kernel's grid, upstream
        mirrors it back: at radius 8 and 10 white and grey alike become brighter by 1 %.
    """
    kernel = disk_kernel(level.parameters["radius"], level.parameters["alias_sigma"])
    blurred = cv2.filter2D(image / 255.0, -1, kernel)
    np.clip(blurred, 0, 1, out=blurred)
    blurred *= 255
    return blurred.astype(np.uint8)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """By sums over the disk's columns, its soft edge afterwards."""
    shapes = [(level.parameters["radius"], level.parameters["alias_sigma"]) for level in levels]
    margin = max(_disk(*shape).margin for shape in shapes)
    frame, width = framed(image, margin), image.shape[1]
    return [disk_blur(frame, _layout(*shape, width, margin)) for shape in shapes]


@lru_cache(maxsize=64)
def disk_kernel(radius: float, alias_sigma: float) -> npt.NDArray[np.float32]:
    """The convolution kernel.

    Parameters
    ----------
    radius : float
        Of the disk, in pixels.
    alias_sigma : float
        Standard deviation, in pixels, of the gaussian that softens its edge, over 3 x 3 pixels
        up to radius 8 and 5 x 5 beyond.

    Returns
    -------
    float32 array, shape (17, 17) or larger
        Its sum is not 1 where the gaussian meets the edge of the grid.

    Notes
    -----
    OpenCV, which softens the published disks in single precision, does so with other last bits
    on other processors. For the parameters of the benchmark these are its kernels with AVX2, as
    :mod:`ops.corruptions.stored_kernels` tells; all others are computed in double precision.
    """
    stored = stored_kernels.disk(radius, alias_sigma)
    if stored is not None:
        return stored
    reach = np.arange(-8, 9) if radius <= 8 else np.arange(-radius, radius + 1)
    inside = reach**2 + reach[:, None] ** 2 <= radius**2
    disk = np.pad(inside / np.count_nonzero(inside), smoothing_side(radius) // 2, mode="reflect")
    return softened(disk, sampled_gaussian(smoothing_side(radius), alias_sigma)).astype(np.float32)


def smoothing_side(radius: float) -> int:
    """Width of the gaussian that softens a disk's edge, in pixels."""
    return 3 if radius <= 8 else 5


@lru_cache(maxsize=64)
def _disk(radius: float, alias_sigma: float) -> Disk:
    return split_disk(disk_kernel(radius, alias_sigma), radius, alias_sigma, smoothing_side(radius))


@lru_cache(maxsize=64)
def _layout(radius: float, alias_sigma: float, width: int, margin: int) -> Layout:
    return lay_out(_disk(radius, alias_sigma), width, margin)
