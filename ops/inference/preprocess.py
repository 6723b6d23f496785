"""The pixels of a transform: resize and centre crop, identical to torchvision's on Pillow images.

Torchvision computes every resized pixel and throws away those outside the crop. A resize is two
passes, along rows and then along columns, each rounded to 8 bits, and an output pixel depends
only on its own row or column of weights. So rows the crop never needs are left out of the first
pass, and columns it drops out of the second; the weights, and with them the pixels, stay the same
to the last bit. Where Pillow 13 takes the passes in the other order (a height that shrinks by more
than twice what the width does) the whole image is resized instead. Pillow's own
``resize(box=...)`` skips more, but rounds its box to float32, so it is used only along a side
whose box is exact.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image

from ops.inference.decode import UndecodableImage, decode
from ops.models.transform import Transform

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
# Radius of each filter in input pixels at scale 1 (Pillow, Resample.c).
_SUPPORT = {"box": 0.5, "bilinear": 1.0, "hamming": 1.0, "bicubic": 2.0, "lanczos": 3.0}


def resized_size(width: int, height: int, transform: Transform) -> tuple[int, int]:
    """(width, height) after the resize, in pixels.

    With one number, the shorter side gets it and the longer one ``int(number * long / short)``,
    as ``torchvision.transforms.Resize``.
    """
    if transform.resize is None:
        return width, height
    if isinstance(transform.resize, tuple):
        return transform.resize[1], transform.resize[0]
    short, long = min(width, height), max(width, height)
    other = int(transform.resize * long / short)
    return (transform.resize, other) if width <= height else (other, transform.resize)


def crop_offset(size: int, crop: int) -> int:
    """First pixel of a centred crop along one side; negative where black is padded in front.

    Rounds as ``torchvision.transforms.CenterCrop``: halves go to the even number, and the
    smaller half of the padding stands in front.
    """
    if crop > size:
        return -((crop - size) // 2)
    return round((size - crop) / 2.0)


def apply(image: Image.Image, transform: Transform) -> Image.Image:
    """Resize and centre crop an RGB image.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode RGB, any size.
    transform : Transform
        Sizes and filter; mean and std are applied later, on the device.

    Returns
    -------
    PIL.Image.Image
        Mode RGB, of ``transform.output_size``.
    """
    width, height = image.size
    to_width, to_height = resized_size(width, height, transform)
    kind = _FILTERS[transform.interpolation]
    crop = transform.crop
    if crop is None:
        return image.resize((to_width, to_height), kind)
    left, top = crop_offset(to_width, crop), crop_offset(to_height, crop)
    nothing_to_leave_out = to_width <= crop and to_height <= crop
    columns_first = height - to_height > max(0, 2 * (width - to_width))
    if transform.interpolation == "nearest" or nothing_to_leave_out or columns_first:
        whole = image.resize((to_width, to_height), kind)
        return whole.crop((left, top, left + crop, top + crop))
    first, last = _rows_needed(height, to_height, top, top + crop, transform.interpolation)
    strip = image.crop((0, first, width, last))
    start, stop = _exact_part(width, to_width, left, left + crop)
    across = (start * width / to_width, 0.0, stop * width / to_width, float(last - first))
    strip = strip.resize((stop - start, last - first), kind, across)
    left -= start
    start, stop = _exact_part(height, to_height, top, top + crop)
    if stop - start == to_height:
        # Back to the full height, which the weights depend on; the rows that were left out are
        # black and reach only output rows outside the crop.
        column = strip.crop((left, -first, left + crop, height - first))
        return column.resize((crop, to_height), kind).crop((0, top, crop, top + crop))
    column = strip.crop((left, 0, left + crop, last - first))
    scale = height / to_height
    down = (0.0, start * scale - first, float(crop), stop * scale - first)
    part = column.resize((crop, stop - start), kind, down)
    return part.crop((0, top - start, crop, top - start + crop))


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
        Written whole; black where the image cannot be decoded.

    Returns
    -------
    str or None
        Why it cannot be decoded, or None.
    """
    try:
        image = source if isinstance(source, Image.Image) else decode(source)
    except UndecodableImage as error:
        out.fill(0)
        return str(error.found)
    out[...] = np.asarray(apply(image, transform))
    return None


def _rows_needed(
    height: int, to_height: int, start: int, stop: int, interpolation: str
) -> tuple[int, int]:
    # One row more on either side than the filter's radius reaches covers Pillow's rounding.
    scale = height / to_height
    reach = _SUPPORT[interpolation] * max(scale, 1.0)
    start, stop = max(start, 0), min(stop, to_height)
    first = math.floor((start + 0.5) * scale - reach) - 1
    last = math.ceil((stop - 0.5) * scale + reach) + 1
    return max(first, 0), min(last, height)


def _exact_part(size: int, to_size: int, start: int, stop: int) -> tuple[int, int]:
    # With a power of two, as the standard 256, the ends of the box and the centres of the filter
    # are exact in Pillow's float32 and float64: a part of the output has the weights of the whole.
    if to_size & (to_size - 1) or size.bit_length() + to_size.bit_length() > 24:
        return 0, to_size
    return max(start, 0), min(stop, to_size)
