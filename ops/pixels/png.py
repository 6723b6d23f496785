"""PNG without compression: the same pixels are the same bytes everywhere.

Compressors differ between builds of their library; stored blocks do not.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

# Of a stored block of deflate (RFC 1951, section 3.2.4).
_BLOCK = 0xFFFF


def encode_png(image: npt.NDArray[np.uint8]) -> bytes:
    """Write a picture as 8-bit RGB PNG, packed by no compressor at all.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.

    Returns
    -------
    bytes
        The file, some 0.1 % larger than the pixels.
    """
    height, width, _ = image.shape
    # Every row begins with the number of its filter: 0, none.
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = image.reshape(height, 3 * width)
    data = rows.tobytes()
    packed = [b"\x78\x01"]
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        last = start + _BLOCK >= len(data)
        packed += [struct.pack("<BHH", last, len(block), len(block) ^ _BLOCK), block]
    packed.append(struct.pack(">I", zlib.adler32(data)))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", b"".join(packed)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))
        for kind, body in chunks
    )
