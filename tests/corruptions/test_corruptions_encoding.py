"""The JPEG files of stored pictures are Pillow's, to the byte; so are the pixels read back."""

import io

import numpy as np
import pytest
from PIL import Image

from ops.corruptions import SEVERITIES, corrupt
from ops.corruptions.encoding import decode_jpeg, encode_jpeg
from ops.corruptions.parameters import load
from ops.errors import ShiftlakeError
from tests.parity import fixtures


def noise(height, width):
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)


PICTURES = {
    **{name: fixtures.picture(name) for name in fixtures.CORRUPTION_INPUTS},
    "noise": noise(224, 224),
    "no whole blocks": noise(37, 53),
    "one pixel": noise(1, 1),
}


def pillow(image, **settings):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", **settings)
    return file.getvalue()


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("quality", [5, 7, 10, 15, 18, 25, 65, 85, 95, 100])
@pytest.mark.parametrize("name", PICTURES)
def test_a_file_is_pillows_to_the_byte_and_decodes_to_the_same_pixels(name, quality, optimize):
    data = encode_jpeg(PICTURES[name], quality, optimize)
    assert data == pillow(PICTURES[name], quality=quality, optimize=optimize)
    with Image.open(io.BytesIO(data)) as read:
        assert np.array_equal(decode_jpeg(data), np.asarray(read))


def test_optimised_tables_change_the_bytes_and_no_pixel():
    plain, smaller = (encode_jpeg(PICTURES["scene"], optimize=value) for value in (False, True))
    assert len(smaller) < len(plain)
    assert np.array_equal(decode_jpeg(plain), decode_jpeg(smaller))


def test_chroma_is_stored_at_half_the_size_each_way():
    data = encode_jpeg(PICTURES["scene"])
    frame = data.index(b"\xff\xc0")  # length, precision, height, width, components; then 3 each
    assert [data[frame + 10 + 3 * i + 1] for i in range(3)] == [0x22, 0x11, 0x11]


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("progressive", [False, True])
def test_any_rgb_file_is_decoded_as_pillow_does(subsampling, progressive):
    data = pillow(PICTURES["scene"], subsampling=subsampling, progressive=progressive)
    with Image.open(io.BytesIO(data)) as read:
        assert np.array_equal(decode_jpeg(data), np.asarray(read))


def test_a_grey_file_becomes_three_equal_channels():
    data = pillow(PICTURES["grey"][..., 0])
    with Image.open(io.BytesIO(data)) as read:
        assert np.array_equal(decode_jpeg(data), np.asarray(read.convert("RGB")))


def test_an_orientation_tag_turns_nothing():
    tag = Image.Exif()
    tag[0x0112] = 6
    data = pillow(noise(16, 40), exif=tag)
    assert decode_jpeg(data).shape == (16, 40, 3)


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4, 3)), np.zeros((4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8)],
    ids=["float", "one channel", "empty"],
)
def test_what_is_no_picture_is_refused(image):
    with pytest.raises(ShiftlakeError, match="Only RGB pictures"):
        encode_jpeg(image)


@pytest.mark.parametrize("data", [b"", b"no picture at all"])
def test_bytes_that_are_no_picture_are_refused(data):
    with pytest.raises(ShiftlakeError, match="no JPEG"):
        decode_jpeg(data)


@pytest.mark.parametrize("preset", ["imagenet_224", "imagenet_299", "tiny_imagenet_64"])
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_the_corruption_is_saving_and_opening_with_pillow(preset, mode):
    side = {"imagenet_224": 224, "imagenet_299": 299, "tiny_imagenet_64": 64}[preset]
    image = noise(side, side)
    for severity in SEVERITIES:
        quality = load(preset)["jpeg_compression"][severity - 1]["quality"]
        with Image.open(io.BytesIO(pillow(image, quality=quality))) as read:
            found = corrupt(image, "jpeg_compression", severity, mode=mode, preset=preset)
            assert np.array_equal(found, np.asarray(read))
