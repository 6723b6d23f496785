"""Gaussian blur of an image."""

from __future__ import annotations

from collections.abc import Sequence

from ops.corruptions.gaussian import blur_levels
from ops.corruptions.kernel import Image, Level


def exact(image: Image, level: Level) -> Image:
    """Blur in double precision.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameter ``sigma``: standard deviation in pixels; the kernel ends at four of them.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The blurred image.
    """
    return blur_levels(image, level.parameters["sigma"])


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same: the result is cut to whole levels, and where an image is flat the last bit cuts."""
    return [exact(image, level) for level in levels]
