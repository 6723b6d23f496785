"""A contact sheet shows what there is and what cannot be read, and reads no more than that."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from shard_parts import shard_files

from ops.errors import ShiftlakeError
from ops.shards import Manifest, Sample, ShardDamaged, open_dataset, read_shard, write_dataset
from ops.shards.contact_sheet import contact_sheet
from ops.storage import Root, open_root

NAME = "made/here"


def packed(format: str, colour: str = "navy") -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (40, 40), colour).save(target, format)
    return target.getvalue()


def flipped_png() -> bytes:
    """One byte of the second chunk's name is wrong; Pillow raises a SyntaxError over it."""
    target = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(target, "PNG")
    data = bytearray(target.getvalue())
    data[data.index(b"IDAT", data.index(b"IDAT") + 4)] ^= 0x80
    with pytest.raises(SyntaxError):
        Image.open(io.BytesIO(bytes(data))).convert("RGB")
    return bytes(data)


def made(root: Root, images: list[bytes]) -> Manifest:
    meta = {"benchmark": "made", "condition": "here", "labels": [3], "format": "png"}
    samples = [Sample(f"k{n:03d}", data, "png", 3, meta) for n, data in enumerate(images)]
    return write_dataset(root, NAME, samples, label_space="ilsvrc1000")


def pixels(sheet: str | None) -> np.ndarray:
    assert sheet is not None
    data = base64.b64decode(sheet.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_a_damaged_png_is_shown_as_unreadable(tmp_path: Path) -> None:
    root = open_root(tmp_path)
    manifest = made(root, [packed("PNG"), flipped_png()])
    drawn = pixels(contact_sheet(root, [manifest], columns=2, rows=1))
    whole, broken = drawn[:, :96], drawn[:, 96:]
    assert whole[48, 48, 2] > whole[48, 48, 0] + 60, "a navy square"
    assert broken.mean() > 230, "mostly white"
    reds = (broken[..., 0] - broken[..., 1]) > 60
    assert reds.any(), "the word in red"
    with pytest.raises(ShiftlakeError, match="does not decode") as caught:
        list(open_dataset(root, NAME))
    assert "broken PNG file" in str(caught.value)


def test_no_more_is_read_than_is_shown(tmp_path: Path) -> None:
    root = open_root(tmp_path)
    manifest = made(root, [packed("PNG")] * 40)
    (shard,) = shard_files(root, NAME)
    data = shard.read_bytes()
    shard.write_bytes(data[: len(data) * 3 // 4] + b"x" * (len(data) - len(data) * 3 // 4))
    with pytest.raises(ShardDamaged):
        list(read_shard(root, manifest, manifest.shards[0]))
    # Tiles are the samples 0, 13 and 26 of 40.
    assert contact_sheet(root, [manifest], columns=3, rows=1) is not None
