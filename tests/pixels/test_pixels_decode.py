"""Every kind of image the benchmarks hold becomes the RGB pixels torchvision and timm would see."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from ops.pixels import UndecodableImage, decode

RNG = np.random.default_rng(0)
COLOUR = np.asarray(
    Image.fromarray(RNG.integers(0, 256, (4, 5, 3), dtype=np.uint8)).resize((40, 30), 3)
)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def peer(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize(
    ("mode", "kind", "options"),
    [
        ("RGB", "JPEG", {"quality": 90}),
        ("RGB", "JPEG", {"quality": 90, "progressive": True}),
        ("L", "JPEG", {}),
        ("CMYK", "JPEG", {}),
        ("RGB", "PNG", {}),
        ("P", "PNG", {}),
        ("P", "PNG", {"transparency": 3}),
        ("1", "PNG", {}),
        ("L", "PNG", {}),
        ("LA", "PNG", {}),
        ("RGBA", "PNG", {}),
        ("RGB", "BMP", {}),
        ("P", "GIF", {}),
        ("RGB", "WEBP", {"lossless": True}),
        ("RGB", "TIFF", {}),
    ],
)
def test_kinds_decode_as_peers_decode_them(
    mode: str, kind: str, options: dict[str, object]
) -> None:
    data = saved(Image.fromarray(COLOUR).convert(mode), kind, **options)
    image = decode(data)
    assert image.mode == "RGB"
    assert image.size == (40, 30)
    assert np.array_equal(np.asarray(image), peer(data))


def test_large_jpeg_decodes_as_in_small_pieces() -> None:
    data = saved(Image.fromarray(RNG.integers(0, 256, (700, 500, 3), dtype=np.uint8)), "JPEG")
    assert len(data) > 3 * 65_536
    assert np.array_equal(np.asarray(decode(data)), peer(data))


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    ramp = np.linspace(0, 65_535, 256).astype(np.uint16).reshape(16, 16)
    image = decode(saved(Image.fromarray(ramp), "PNG"))
    pixels = np.asarray(image)
    assert np.array_equal(pixels, np.repeat((ramp >> 8).astype(np.uint8)[..., None], 3, axis=2))
    assert len(np.unique(pixels)) > 250


def test_transparent_pixels_keep_their_colour() -> None:
    rgba = np.dstack([COLOUR, np.zeros(COLOUR.shape[:2], np.uint8)])
    assert np.array_equal(np.asarray(decode(saved(Image.fromarray(rgba), "PNG"))), COLOUR)


def test_exif_orientation_is_not_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = saved(Image.fromarray(COLOUR), "JPEG", exif=exif)
    assert decode(data).size == (40, 30)


def test_an_animation_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert np.asarray(decode(data))[0, 0].tolist() == [255, 0, 0]


def bomb_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 12_000, 12_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


WHOLE = saved(Image.fromarray(COLOUR).resize((400, 300)), "JPEG", quality=95)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "no bytes"),
        (b"", "no bytes"),
        (b"<html>404 not found</html>", "no known format"),
        (WHOLE[: len(WHOLE) // 2], "truncated"),
        (WHOLE[:-40], "truncated"),
        (WHOLE[:40], ""),
        (saved(Image.fromarray(COLOUR), "PNG")[:200], ""),
        (bomb_png(), "12000 x 12000"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n", "no known format"),
        (saved(Image.fromarray(COLOUR[..., 0].astype(np.float32)), "TIFF"), "floating-point"),
    ],
)
def test_what_is_no_image_is_refused_with_a_reason(data: bytes | None, reason: str) -> None:
    with pytest.raises(UndecodableImage) as caught:
        decode(data)
    assert reason in str(caught.value.found)
    assert "\n" not in str(caught.value.found)
