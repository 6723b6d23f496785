"""Picture files as upstream ships them, the odd ones included, always with the same bytes."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def jpeg(picture: Image.Image, quality: int = 85) -> bytes:
    """Return a baseline JPEG in the picture's own mode (RGB, L or CMYK)."""
    return _saved(picture, "JPEG", quality=quality)


def cmyk_jpeg(picture: Image.Image) -> bytes:
    """Return a CMYK JPEG, as ILSVRC2012_val_00019877 is one."""
    return jpeg(picture.convert("CMYK"))


def gray_jpeg(picture: Image.Image) -> bytes:
    """Return a JPEG of one component."""
    return jpeg(picture.convert("L"))


def exif_rotated_jpeg(picture: Image.Image) -> bytes:
    """Return an upright JPEG whose EXIF tag claims that it lies on its side."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return _saved(picture, "JPEG", quality=85, exif=exif)


def palette_png(picture: Image.Image) -> bytes:
    """Return a PNG with a palette."""
    return _saved(picture.quantize(64), "PNG")


def rgba_png(picture: Image.Image) -> bytes:
    """Return a PNG with an opaque alpha channel."""
    return _saved(picture.convert("RGBA"), "PNG")


def gray16_png(picture: Image.Image) -> bytes:
    """Return a PNG of one 16-bit component."""
    gray = np.asarray(picture.convert("L"), dtype=np.uint16) * 257
    return _saved(Image.fromarray(gray), "PNG")


def bmp(picture: Image.Image) -> bytes:
    """Return a Windows bitmap."""
    return _saved(picture, "BMP")


def gif(picture: Image.Image) -> bytes:
    """Return a GIF of one frame."""
    return _saved(picture.quantize(64), "GIF")


def broken_jpeg(picture: Image.Image) -> bytes:
    """Return a file that begins as a JPEG and cannot be decoded: it is cut inside its header."""
    return jpeg(picture)[:180] + bytes(400)


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    target = io.BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()
