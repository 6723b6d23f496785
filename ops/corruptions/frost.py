"""Frost: a photograph of ice laid over the picture, at a random place."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from ops.compiled import compiled
from ops.corruptions import textures
from ops.corruptions.kernel import Image, Level
from ops.errors import ShiftlakeError

# The official code lists six photographs and draws one of the first five; the second and the
# third show the same.
DRAWN = 5


def exact(image: Image, level: Level) -> Image:
    """The weighted sum of picture and photograph in double precision, clipped and truncated.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``image_weight``, ``frost_weight`` and ``texture_scale`` (what the photographs
        are resized by first). Draws the photograph, its first row, its first column.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The frosted picture.

    Raises
    ------
    ShiftlakeError
        There are no photographs, or one is not larger than the picture.
    """
    photographs = textures.found() if level.textures is None else level.textures
    height, width, _ = image.shape
    scale = level.parameters["texture_scale"]
    require_larger(photographs, scale, (height, width))
    texture = scaled(photographs[int(level.draws.integers("texture", 0, DRAWN, ()))], scale)
    row = int(level.draws.integers("row", 0, len(texture) - height, ()))
    column = int(level.draws.integers("column", 0, len(texture[0]) - width, ()))
    out = np.empty_like(image)
    weight = float(level.parameters["image_weight"])
    texture_weight = float(level.parameters["frost_weight"])
    covering = texture.reshape(len(texture), -1)[row:, 3 * column :]
    _blend(image.reshape(height, -1), covering, weight, texture_weight, out.reshape(height, -1))
    return out


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same: the weights meet whole numbers, and only doubles round all sums alike."""
    return [exact(image, level) for level in levels]


@compiled()
def _blend(image: Image, texture: Image, weight: float, texture_weight: float, out: Image) -> None:
    for row in range(len(image)):
        clear, frost, blended = image[row], texture[row], out[row]
        for i in range(len(clear)):
            mixed = weight * clear[i] + texture_weight * frost[i]
            blended[i] = np.uint8(min(mixed, 255.0))


def scaled(texture: Image, scale: float) -> Image:
    """A photograph at the size it is cut from, as OpenCV resizes it; itself at scale 1."""
    if scale == 1:
        return texture
    return np.asarray(cv2.resize(texture, None, fx=scale, fy=scale), np.uint8)


def require_larger(photographs: Sequence[Image], scale: float, size: tuple[int, int]) -> None:
    """Raise unless each photograph has room for pictures of a height and width.

    All that may be drawn, not only the one that is: whether there is an error is no matter of
    chance.
    """
    for number, texture in enumerate(photographs[:DRAWN], 1):
        # OpenCV rounds halves to the even number, as Python does.
        found = round(scale * texture.shape[0]), round(scale * texture.shape[1])
        if found[0] <= size[0] or found[1] <= size[1]:
            raise ShiftlakeError(
                "A frost photograph does not cover the picture.",
                expected=f"more than {size[0]} x {size[1]} pixels, resized by {scale}",
                found=f"{found[0]} x {found[1]}",
                where=f"textures, photograph {number}",
                remedy="Give the published photographs, or choose a preset of smaller pictures.",
            )
