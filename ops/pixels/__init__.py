"""From the bytes of an image file to the pixels a benchmark defines: decode, resize, crop.

What belongs here: what models, renderers and galleries must agree on to the last bit. What does
not: a model's transform (:mod:`ops.models`), and anything that changes an image on purpose
(:mod:`ops.corruptions`).
"""

from ops.pixels.crop import crop_offset, resize_and_crop, resized_size
from ops.pixels.decode import MAX_PIXELS, UndecodableImage, decode
from ops.pixels.png import encode_png

__all__ = [
    "MAX_PIXELS",
    "UndecodableImage",
    "crop_offset",
    "decode",
    "encode_png",
    "resize_and_crop",
    "resized_size",
]
