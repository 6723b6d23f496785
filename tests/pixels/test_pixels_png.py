"""A PNG without compression is a PNG: every reader gives the pixels back."""

from __future__ import annotations

import io
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image

from ops.pixels import encode_png


# Below, at and above one stored block of 65,535 bytes.
@pytest.mark.parametrize("size", [(1, 1), (32, 32), (1, 65_534 // 3), (5, 4_369), (256, 256)])
def test_readers_give_the_pixels_back(size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    data = encode_png(image)
    with Image.open(io.BytesIO(data)) as opened:
        assert (opened.format, opened.mode) == ("PNG", "RGB")
        assert np.array_equal(np.asarray(opened), image)
    theirs = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(theirs[..., ::-1], image)


def test_nothing_is_left_to_a_compressor() -> None:
    image = np.zeros((100, 300, 3), np.uint8)
    data = encode_png(image)
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4], "big")
    assert len(zlib.decompress(data[start : start + length])) == 100 * 901
    assert len(data) > image.nbytes
