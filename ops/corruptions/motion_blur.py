"""Motion blur along a random direction."""

from __future__ import annotations

from collections.abc import Sequence

from ops.corruptions.kernel import Image, Level
from ops.corruptions.motion_taps import Taps, blur_exact, blur_fast, motion_taps, padded_levels


def exact(image: Image, level: Level) -> Image:
    """Blur as ImageMagick 6 does, in 16 bits and back.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``radius`` and ``sigma``, in pixels. The angle is drawn from [-45, 45) degrees.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The blurred image.
    """
    return blur_exact(image, _taps(level))


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """In float32, on one padded picture."""
    taps = [_taps(level) for level in levels]
    padded = padded_levels(image, max(each.margin for each in taps))
    return [blur_fast(padded, each) for each in taps]


def _taps(level: Level) -> Taps:
    angle = float(level.draws.uniform("angle", -45.0, 45.0, ()))
    return motion_taps(level.parameters["radius"], level.parameters["sigma"], angle)
