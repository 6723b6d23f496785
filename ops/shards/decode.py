"""Pixels of a sample's published bytes, by the formats the benchmarks are published in."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image

# Pillow reads dozens of formats more; bytes from strangers reach none of their parsers.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP")


class Undecodable(Exception):
    """Bytes that are no image of a published format, or a damaged one."""


def decode_rgb(data: bytes) -> Image.Image:
    """Image of some bytes, in RGB.

    Raises
    ------
    Undecodable
        Whatever is wrong with them; the message says what Pillow said.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            return opened.convert("RGB")
    except (
        OSError,
        ValueError,
        # Pillow's parsers let these out over damaged files.
        SyntaxError,
        EOFError,
        LookupError,
        ArithmeticError,
        struct.error,
        zlib.error,
        Image.DecompressionBombError,
    ) as error:
        raise Undecodable(f"{type(error).__name__}: {error}") from error
