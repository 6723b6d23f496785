"""The protocol: which of a stored image's pixels a model sees.

Most benchmarks store photographs, and a model's own resize and crop apply. Some store squares that
are already cropped, ImageNet-C and -P at 224 pixels: resizing those to 256 and cropping again, as
if they were photographs, is a known error that enlarges the centre (the official evaluation crops
them to 224, which changes nothing). Their datasets state the side of the square as the parameter
``cropped``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ops.models.transform import Transform


def cropped_side(parameters: Mapping[str, Any]) -> int | None:
    """Side of a dataset's squares in pixels; None where it stores photographs."""
    side = parameters.get("cropped")
    return None if side is None else int(side)


def pixels_transform(transform: Transform, cropped: int | None) -> Transform:
    """The transform that makes a model's input from what a dataset stores.

    Parameters
    ----------
    transform : Transform
        The model's own.
    cropped : int or None
        As :func:`cropped_side`.

    Returns
    -------
    Transform
        The model's own for photographs. For squares, a resize straight to the model's input, which
        leaves a square of that size as it is.
    """
    if cropped is None:
        return transform
    return transform.model_copy(update={"resize": transform.output_size, "crop": None})


def described(transform: Transform, cropped: int | None) -> str:
    """The protocol in a few words, such as ``resize 256, crop 224`` or ``stored 224``."""
    if cropped is None:
        resize, crop = transform.resize, transform.crop
        shown = "x".join(map(str, resize)) if isinstance(resize, tuple) else resize
        steps = [f"resize {shown}"] * (resize is not None) + [f"crop {crop}"] * (crop is not None)
        return ", ".join(steps)
    height, width = transform.output_size
    if (height, width) == (cropped, cropped):
        return f"stored {cropped}"
    size = str(height) if height == width else f"{height}x{width}"
    return f"stored {cropped}, resized to {size}"
