"""The quick look at a frame's file says what decoding it says, whatever was done to it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from painted_frames import paint
from PIL import Image

from ops.pixels import UndecodableImage, decode
from ops.video.frame_size import decoded_size

KINDS = {
    "plain": ("JPEG", "RGB", {"quality": 95}),
    "progressive": ("JPEG", "RGB", {"progressive": True}),
    "restarts": ("JPEG", "RGB", {"restart_marker_rows": 1}),
    "not subsampled": ("JPEG", "RGB", {"subsampling": 0}),
    "grey": ("JPEG", "L", {}),
    "four inks": ("JPEG", "CMYK", {}),
    "PNG": ("PNG", "RGB", {}),
}


def file_of(kind: str) -> bytes:
    form, mode, options = KINDS[kind]
    file = io.BytesIO()
    Image.fromarray(paint(7, 121, 67)).convert(mode).save(file, form, **options)
    return file.getvalue()


def told(size: object, data: bytes) -> object:
    try:
        return size(data)  # type: ignore[operator]
    except UndecodableImage as error:
        return error.found


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_has_its_size(kind: str) -> None:
    assert decoded_size(file_of(kind)) == (121, 67)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_judged_as_by_decoding_it(kind: str) -> None:
    whole = file_of(kind)
    draw = np.random.default_rng(1)
    refused = 0
    for number in range(90):
        data = bytearray(whole)
        at = int(draw.integers(len(data)))
        if number % 3 == 0:
            del data[at:]
        elif number % 3 == 1:
            del data[at : at + int(draw.integers(1, 200))]
        else:
            for place in draw.integers(len(data), size=12):
                data[place] = int(draw.integers(256))
        expected = told(lambda changed: decode(changed).size, bytes(data))
        assert told(decoded_size, bytes(data)) == expected
        refused += isinstance(expected, str)
    assert refused > 10


def test_no_file_is_no_frame() -> None:
    for data in (None, b"", b"\xff\xd8", b"<html>"):
        with pytest.raises(UndecodableImage):
            decoded_size(data)
