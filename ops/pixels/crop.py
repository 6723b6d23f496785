"""Resize and centre crop, identical to torchvision's on Pillow images.

Torchvision computes every resized pixel and throws away those outside the crop. A pixel of a
resize depends only on its own row and column of weights, so the part inside the crop can be
computed alone, to the same last bit: :mod:`ops.pixels.resample`. The few cases it does not know
are resized whole, by Pillow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from ops.pixels.decode import MAX_PIXELS, UndecodableImage

Size = int | tuple[int, int] | None

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
# Pixels of a side; a longer one would take the resampler's blocks of rows out of the cache.
_LONGEST = 16_384


def resized_size(width: int, height: int, resize: Size) -> tuple[int, int]:
    """(width, height) after the resize, in pixels.

    With one number, the shorter side gets it and the longer one ``int(number * long / short)``,
    as ``torchvision.transforms.Resize``; a pair is (height, width); None leaves the size.
    """
    if resize is None:
        return width, height
    if isinstance(resize, tuple):
        return resize[1], resize[0]
    short, long = min(width, height), max(width, height)
    other = int(resize * long / short)
    return (resize, other) if width <= height else (other, resize)


def crop_offset(size: int, crop: int) -> int:
    """First pixel of a centred crop along one side; negative where black is padded in front.

    Rounds as ``torchvision.transforms.CenterCrop``: halves go to the even number, and the
    smaller half of the padding stands in front.
    """
    if crop > size:
        return -((crop - size) // 2)
    return round((size - crop) / 2.0)


def resize_and_crop(
    image: Image.Image,
    resize: Size,
    crop: int | None,
    interpolation: str = "bilinear",
    out: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """Resize and centre crop an RGB image.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode RGB, any size.
    resize : int, (int, int) or None
        As in :func:`resized_size`.
    crop : int or None
        Side of the centred square in pixels; None for no crop.
    interpolation : str
        Pillow's name of the filter, in lower case.
    out : uint8 array, shape (height, width, 3), optional
        Where to write the pixels; by default a new array.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        Of side `crop`, or of the resized size if there is none; black where a crop is larger
        than the resized image.

    Raises
    ------
    UndecodableImage
        If the image or the resized one has no pixels, or the resized one would have over
        `MAX_PIXELS` of them; nothing is allocated for it.
    """
    size = width, height = resized_size(*image.size, resize)
    # A picture of nothing would come out black, as if that were what it shows.
    if min(*image.size, *size) < 1:
        raise UndecodableImage(
            "An image cannot be resized.",
            expected="at least one pixel before and after the resize",
            found=f"{image.width} x {image.height} pixels, to be resized to {width} x {height}",
        )
    # A line of pixels has a ratio that turns a small shorter side into gigapixels.
    if width * height > MAX_PIXELS:
        raise UndecodableImage(
            "An image cannot be resized.",
            expected=f"at most {MAX_PIXELS:,} pixels after the resize",
            found=f"would be resized to {width} x {height} pixels, limit {MAX_PIXELS:,}",
        )
    across, down = (width, height) if crop is None else (crop, crop)
    left, top = crop_offset(width, across), crop_offset(height, down)
    if out is None:
        out = np.empty((down, across, 3), np.uint8)
    if not _resampled_here(image.size, size, interpolation):
        whole = image.resize(size, _FILTERS[interpolation])
        out[...] = np.asarray(whole.crop((left, top, left + across, top + down)))
        return out
    # Here and not above: it compiles, which those who only read sizes need not wait for.
    from ops.pixels.resample import resample

    box = max(left, 0), max(top, 0), min(left + across, width), min(top + down, height)
    inside = out[box[1] - top : box[3] - top, box[0] - left : box[2] - left]
    if inside.shape != out.shape:
        out.fill(0)
    resample(image, size, box, interpolation == "bicubic", inside)
    return out


def _resampled_here(size: tuple[int, int], to_size: tuple[int, int], interpolation: str) -> bool:
    (width, height), (to_width, to_height) = size, to_size
    if size == to_size or interpolation not in ("bilinear", "bicubic") or max(size) > _LONGEST:
        return False
    # Pillow 13 takes columns before rows where the height shrinks by more than twice what the
    # width does, Pillow 12 where it is over a hundred widths; rounding between the passes makes
    # that another image.
    return height - to_height <= max(0, 2 * (width - to_width)) and height <= 100 * width
