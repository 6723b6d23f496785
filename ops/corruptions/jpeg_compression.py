"""Strong JPEG compression: encoded at a low quality and decoded again, no arithmetic of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ops.corruptions.encoding import decode_jpeg, encode_jpeg
from ops.corruptions.kernel import Image, Level


def exact(image: Image, level: Level) -> Image:
    """Encode and decode as the official implementation does, through libjpeg-turbo.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameter ``quality``, 1 to 100.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The decoded picture.
    """
    return decode_jpeg(encode_jpeg(image, level.parameters["quality"]))


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same; there is nothing to gain or to lose."""
    return [exact(image, level) for level in levels]
