"""The pixels of a model's transform, made in :mod:`ops.pixels`, and their place in a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from ops.models.transform import Transform
from ops.pixels import UndecodableImage, decode, resize_and_crop


def apply(
    image: Image.Image, transform: Transform, out: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """Resize and centre crop an RGB image.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode RGB, any size.
    transform : Transform
        Sizes and filter; mean and std are applied later, on the device.
    out : uint8 array, shape (height, width, 3), optional
        Where to write the pixels; by default a new array.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        As :func:`ops.pixels.resize_and_crop`.

    Raises
    ------
    UndecodableImage
        If the resized image would be too large.
    """
    return resize_and_crop(image, transform.resize, transform.crop, transform.interpolation, out)


def prepare(
    source: bytes | Image.Image | None, transform: Transform, out: npt.NDArray[np.uint8]
) -> str | None:
    """Decode and transform one image into its place in a batch.

    Parameters
    ----------
    source : bytes, PIL.Image.Image or None
        An image file, or an RGB image that is already decoded.
    transform : Transform
        Sizes and filter.
    out : uint8 array, shape (height, width, 3)
        Written whole; black where the image cannot be decoded or resized.

    Returns
    -------
    str or None
        Why it cannot be decoded or resized, or None.
    """
    try:
        image = source if isinstance(source, Image.Image) else decode(source)
        apply(image, transform, out)
    except UndecodableImage as error:
        out.fill(0)
        return str(error.found)
    return None


def place(pixels: npt.NDArray[np.uint8], transform: Transform, out: npt.NDArray[np.uint8]) -> None:
    """Transform decoded pixels into their place in a batch.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
    transform : Transform
        Sizes and filter.
    out : uint8 array, shape (height, width, 3)
        Of the model's input.
    """
    if transform.crop is None and pixels.shape == out.shape:
        # A resize to the size it has.
        out[...] = pixels
    else:
        apply(Image.fromarray(np.ascontiguousarray(pixels)), transform, out)
