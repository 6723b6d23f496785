"""JPEG in memory: what a stored picture and ``jpeg_compression`` go through.

Here: one encoder and one decoder, both libjpeg-turbo with its accurate integer transforms (ISLOW),
chroma subsampled 4:2:0 and upsampled smoothly, the standard tables: Pillow's defaults. OpenCV and
Pillow bundle the same library (3.1.2 in OpenCV 5.0.0, 3.2.0 in Pillow 13.0), whose integer
arithmetic no version has changed; the tests hold the bytes and the pixels of the two together.
OpenCV's takes less than half of the time. ImageNet-C was stored at quality 85, optimised.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from ops.corruptions.arguments import is_whole
from ops.corruptions.opencv_threads import one_thread
from ops.errors import ShiftlakeError

STORED_QUALITY = 85


def encode_jpeg(
    image: npt.NDArray[np.uint8], quality: int = STORED_QUALITY, optimize: bool = False
) -> bytes:
    """Write a picture as baseline JPEG.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    quality : int
        1 to 100, in libjpeg's scale.
    optimize : bool
        Whether to fit the Huffman tables to the picture: 4 to 27 % smaller, twice the time, the
        same pixels.

    Returns
    -------
    bytes
        The file, to the byte what Pillow saves with the same arguments.

    Raises
    ------
    ShiftlakeError
        The array is no RGB picture of 8 bits, or there is no such quality.
    """
    check_quality(quality)
    kind = getattr(image, "dtype", type(image).__name__)
    shape: tuple[int, ...] = getattr(image, "shape", ())
    if kind != np.uint8 or len(shape) != 3 or shape[2] != 3 or 0 in shape:
        raise ShiftlakeError(
            "Only RGB pictures of 8 bits become JPEG.",
            expected="uint8 of shape (height, width, 3)",
            found=f"{kind} of shape {shape}",
            where="ops.corruptions.encoding.encode_jpeg",
            remedy="Convert the picture to uint8 RGB first.",
        )
    flags = [
        *(cv2.IMWRITE_JPEG_QUALITY, quality),
        *(cv2.IMWRITE_JPEG_OPTIMIZE, int(optimize)),
        *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420),
    ]
    with one_thread():
        _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), flags)
    return bytes(data)


def decode_jpeg(data: bytes) -> npt.NDArray[np.uint8]:
    """Read a JPEG file; its orientation tag is left to the caller, as Pillow leaves it.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        RGB.

    Raises
    ------
    ShiftlakeError
        The bytes are no picture.
    """
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    # OpenCV raises on no bytes at all, and returns nothing for any others it cannot read.
    image = cv2.imdecode(np.frombuffer(data, np.uint8), flags) if data else None
    if image is None:
        raise ShiftlakeError(
            "These bytes are no JPEG.",
            expected="a baseline or progressive JPEG file",
            found=f"{len(data)} bytes that begin with {data[:4]!r}",
            where="ops.corruptions.encoding.decode_jpeg",
            remedy="Check where the bytes come from.",
        )
    with one_thread():
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)


def check_quality(quality: object) -> None:
    """Raise unless this is a quality in libjpeg's scale."""
    if not is_whole(quality) or not 1 <= quality <= 100:
        raise ShiftlakeError(
            "There is no such quality of a JPEG.",
            expected="a whole number from 1 to 100",
            found=repr(quality),
            where="quality",
            remedy=f"ImageNet-C was stored at {STORED_QUALITY}.",
        )
