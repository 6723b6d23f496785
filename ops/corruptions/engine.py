"""One image in, all its corruptions out: what they share is computed once.

Here: the loop over the conditions of one decoded image, and their encoding. What an image goes
through before, and where the files go, is in :mod:`ops.rendering`; one corruption of one image is
:func:`ops.corruptions.corrupt`, with the same pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ops.corruptions import parameters
from ops.corruptions.arguments import Mode, check_mode, check_pairs, given_textures
from ops.corruptions.corrupt import DATASET, check_corruption, check_image, check_severity
from ops.corruptions.encoding import STORED_QUALITY, check_quality, encode_jpeg
from ops.corruptions.kernel import Image, Level, kernel
from ops.corruptions.keyed import Key, Keyed, given_key
from ops.corruptions.opencv_threads import one_thread

Condition = tuple[str, int]

# Part of every rendered dataset's version: raised by one whenever a pixel or a byte changes.
ENGINE_VERSION = 1


def render(
    pixels: Image,
    conditions: Sequence[Condition],
    key: Key | str,
    *,
    mode: Mode = "fast",
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
    quality: int = STORED_QUALITY,
    optimize: bool = False,
) -> Iterator[tuple[Condition, bytes]]:
    """Corrupt and encode one image under many conditions.

    Parameters
    ----------
    pixels : uint8 array, shape (size, size, 3)
        RGB, resized and cropped as the preset needs; not written to.
    conditions : sequence of (str, int)
        Corruption and severity, each pair once.
    key : Key or str
        Of the source image, as :func:`ops.corruptions.corrupt` takes it; corruption and severity
        are added to it.
    mode, preset, textures
        As :func:`ops.corruptions.corrupt`.
    quality : int
        Of the JPEG, 1 to 100; chroma is subsampled 4:2:0. ImageNet-C was stored at 85.
    optimize : bool
        Whether to fit the Huffman tables to each picture, as ImageNet-C was stored: smaller
        files of the same pixels, in twice the time of encoding.

    Yields
    ------
    (str, int), bytes
        A condition and its JPEG file, a corruption at a time. Which others were asked for
        changes no byte.

    Raises
    ------
    ShiftlakeError
        If a condition does not exist or is given twice, the image does not fit the preset, or
        another argument is not as told above.
    """
    check_quality(quality)
    for condition, image in corrupt_all(
        pixels, conditions, key, mode=mode, preset=preset, textures=textures
    ):
        yield condition, encode_jpeg(image, quality, optimize)


def corrupt_all(
    pixels: Image,
    conditions: Sequence[Condition],
    key: Key | str,
    *,
    mode: Mode = "fast",
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
) -> Iterator[tuple[Condition, Image]]:
    """Corrupt one image under many conditions; as :func:`render`, before it is encoded."""
    check_mode(mode)
    table = parameters.load(preset)
    check_image(pixels, preset)
    check_pairs(conditions)
    severities: dict[str, list[int]] = {}
    for corruption, severity in conditions:
        check_corruption(corruption)
        check_severity(severity)
        severities.setdefault(corruption, []).append(severity)
    own = given_key(key, DATASET)
    source = np.ascontiguousarray(pixels)
    photographs = given_textures(textures)
    for corruption, wanted in severities.items():
        levels = [
            Level(
                table[corruption][severity - 1],
                Keyed(own, corruption, severity),
                photographs,
            )
            for severity in wanted
        ]
        with one_thread():
            if mode == "fast":
                images = kernel(corruption).fast(source, levels)
            else:
                images = [kernel(corruption).exact(source, level) for level in levels]
        for severity, image in zip(wanted, images, strict=True):
            yield (corruption, severity), image
