"""One image in, all its corruptions out: what they share is computed once.

Here: the loop over the conditions of one decoded image, and their encoding. What an image goes
through before, and where the files go, is in :mod:`ops.rendering`; one corruption of one image is
:func:`ops.corruptions.corrupt`, with the same pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from ops.corruptions import parameters
from ops.corruptions.corrupt import (
    Mode,
    check_corruption,
    check_image,
    check_mode,
    check_severity,
)
from ops.corruptions.encoding import STORED_QUALITY, encode_jpeg
from ops.corruptions.kernel import Image, Level, kernel
from ops.corruptions.keyed import Key, Keyed
from ops.corruptions.picture import Picture

Condition = tuple[str, int]

# Part of every rendered dataset's version: raised by one whenever a pixel or a byte changes.
ENGINE_VERSION = 1


def render(
    pixels: Image,
    conditions: Sequence[Condition],
    key: Key,
    *,
    mode: Mode = "fast",
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
    quality: int = STORED_QUALITY,
) -> Iterator[tuple[Condition, bytes]]:
    """Corrupt and encode one image under many conditions.

    Parameters
    ----------
    pixels : uint8 array, shape (size, size, 3)
        RGB, resized and cropped as the preset needs; not written to.
    conditions : sequence of (str, int)
        Corruption and severity, each pair once.
    key : Key
        Of the source image; corruption and severity are added to it.
    mode, preset, textures
        As :func:`ops.corruptions.corrupt`.
    quality : int
        Of the JPEG; chroma is subsampled 4:2:0. ImageNet-C was stored at 85.

    Yields
    ------
    (str, int), bytes
        A condition and its JPEG file, a corruption at a time. Which others were asked for
        changes no byte.

    Raises
    ------
    ShiftlakeError
        If a condition does not exist, or the image does not fit the preset.
    """
    for condition, image in corrupt_all(
        pixels, conditions, key, mode=mode, preset=preset, textures=textures
    ):
        yield condition, encode_jpeg(image, quality)


def corrupt_all(
    pixels: Image,
    conditions: Sequence[Condition],
    key: Key,
    *,
    mode: Mode = "fast",
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
) -> Iterator[tuple[Condition, Image]]:
    """Corrupt one image under many conditions; as :func:`render`, before it is encoded."""
    one_thread_each()
    check_mode(mode)
    table = parameters.load(preset)
    check_image(pixels, preset)
    severities: dict[str, list[int]] = {}
    for corruption, severity in conditions:
        check_corruption(corruption)
        check_severity(severity)
        severities.setdefault(corruption, []).append(severity)
    picture = Picture(np.ascontiguousarray(pixels))
    photographs = None if textures is None else tuple(textures)
    for corruption, wanted in severities.items():
        levels = [
            Level(
                table[corruption][severity - 1],
                Keyed(key, corruption, severity),
                photographs,
            )
            for severity in wanted
        ]
        if mode == "fast":
            images = kernel(corruption).fast(picture, levels)
        else:
            images = [kernel(corruption).exact(picture.pixels, level) for level in levels]
        for severity, image in zip(wanted, images, strict=True):
            yield (corruption, severity), image


@cache
def one_thread_each() -> None:
    """Keep OpenCV from starting threads in this process: the images are what runs in parallel."""
    import cv2

    cv2.setNumThreads(1)
