"""Contact strips: every frame in its place, and what was decided told by colour and by sign."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from ops.catalog import load
from ops.shards import Sample, write_dataset
from ops.storage import Root, open_root
from ops.video.cataloguing import catalogued
from ops.video.contact_strip import as_data_uri, contact_strip, contact_strip_of, evenly
from ops.video.review import Review, decide
from ops.video.strip_drawing import StripFrame, StripSet, draw_strips, shown_offsets
from tests.report import video_lake

GREEN, RED, GREY = (0x1A, 0x7F, 0x4B), (0xC0, 0x34, 0x1D), (0x7D, 0x87, 0x90)
TILE = 60


def jpeg(level: int, size: tuple[int, int] = (64, 64)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, (level, level, 255 - level)).save(target, "JPEG", quality=95)
    return target.getvalue()


def opened(uri: str | None) -> Image.Image:
    assert uri is not None
    assert uri.startswith("data:image/webp;base64,")
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB")


def tiles(sheet: Image.Image, count: int, tile: int = TILE) -> list[np.ndarray]:
    """Pixels of the tiles of the first strip."""
    array = np.asarray(sheet)
    return [array[24 : 24 + tile, 12 + i * (tile + 4) : 12 + i * (tile + 4) + tile]
            for i in range(count)]  # fmt: skip


def has(pixels: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((np.abs(pixels.astype(int) - colour).max(axis=2) == 0).sum())


def test_frames_stand_in_the_order_of_offset_with_the_anchor_in_the_middle():
    levels = {offset: 120 + 30 * offset for offset in (2, -1, 0, 1, -2)}
    frames = tuple(StripFrame(o, jpeg(level), None) for o, level in levels.items())
    sheet = draw_strips([StripSet("a", frames)], 2, TILE)
    middles = [int(tile[TILE // 2, TILE // 2, 0]) for tile in tiles(sheet, 5)]
    assert middles == pytest.approx([60, 90, 120, 150, 180], abs=3)


def test_every_decision_has_its_colour_and_a_sign_that_does_without():
    states = {-1: "accepted", 0: "accepted", 1: "rejected", 2: "pending"}
    frames = tuple(StripFrame(o, jpeg(128), state) for o, state in states.items())
    sheet = draw_strips([StripSet("a", frames)], 2, TILE)
    missing, yes, anchor, no, open_ = tiles(sheet, 5)
    for tile, colour in ((yes, GREEN), (anchor, GREEN), (no, RED), (open_, GREY)):
        counts = {each: has(tile, each) for each in (GREEN, RED, GREY)}
        assert counts.pop(colour) > 300
        assert not any(counts.values())
    # Where nothing is, lines run across white.
    assert {tuple(p) for p in missing.reshape(-1, 3).tolist()} == {(255,) * 3, (0xAA, 0xB2, 0xBB)}
    # The signs as they are without colour.
    signs = [tile[-16:, -16:].min(axis=2) > 200 for tile in (yes, no, open_)]
    for one in range(3):
        assert signs[one].any()
        for other in range(one):
            assert (signs[one] != signs[other]).sum() > 10


def test_a_frame_that_cannot_be_read_keeps_its_place():
    frames = (StripFrame(-1, jpeg(9)[:100], None), StripFrame(0, jpeg(99), None),
              StripFrame(1, None, "rejected"))  # fmt: skip
    sheet = draw_strips([StripSet("a", frames)], 1, TILE)
    lost, _, rejected = tiles(sheet, 3)
    assert has(lost, (255, 255, 255)) > 1000
    assert has(rejected, RED) > 300


def test_the_picture_keeps_within_its_bytes_and_is_the_same_every_time():
    rng = np.random.default_rng(0)
    noise = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (96, 96, 3), dtype=np.uint8)).save(noise, "PNG")
    frames = tuple(StripFrame(o, noise.getvalue(), "accepted") for o in range(-10, 11))
    strips = [StripSet(f"set {i}", frames) for i in range(3)]
    for most in (60_000, 20_000):
        uri = as_data_uri(strips, 10, most)
        assert uri == as_data_uri(strips, 10, most)
        assert len(base64.b64decode(uri.partition(",")[2])) <= most
    assert opened(uri).height < opened(as_data_uri(strips, 10, 10**7)).height


def test_of_many_offsets_some_are_shown_and_the_ends_are_among_them():
    assert shown_offsets(10) == list(range(-10, 11))
    found = shown_offsets(50)
    assert (len(found), found[0], found[10], found[-1]) == (21, -50, 0, 50)
    assert found == sorted(set(found))
    assert evenly(list(range(100)), 4) == [12, 37, 62, 87]
    assert evenly([1, 2], 4) == [1, 2]


def seal(root: Root, sets: int = 7, name: str = "frame_sets/made") -> None:
    benchmark, _, condition = name.partition("/")
    samples = [
        Sample(
            f"c{clip}/000050/{50 + offset:06d}", jpeg(20 * clip + 10), "jpg", None,
            {"benchmark": benchmark, "condition": condition, "labels": [0], "format": "jpeg",
             "source_key": f"c{clip}", "source_file": "x", "frame_set": f"c{clip}/000050",
             "frame_offset": offset},
        )
        for clip in range(sets)
        for offset in range(-2, 3)
    ]  # fmt: skip
    write_dataset(root, name, samples, label_space="imagenet_vid30")


def test_a_mined_source_is_shown_from_its_shards(tmp_path):
    root = open_root(tmp_path / "lake")
    assert contact_strip(root, "made") is None
    seal(root)
    uri = contact_strip(root, "made", sets=3)
    assert uri == contact_strip_of(root, "frame_sets/made", sets=3)
    sheet = opened(uri)
    # Five tiles of at most 132 pixels across; sets 1, 3 and 5 of seven below each other.
    assert sheet.width == 2 * 12 + 5 * 136 - 4
    row = (sheet.height - 12 - 22) // 3
    middle = np.asarray(sheet)[:, sheet.width // 2]
    levels = [int(middle[12 + 18 + 60 + i * row][0]) for i in range(3)]
    assert levels == pytest.approx([30, 70, 110], abs=6)
    assert contact_strip(root, "made", reviewed=True) is None


def test_a_dataset_without_frame_sets_has_no_strip(tmp_path):
    root = open_root(tmp_path / "lake")
    meta = {"benchmark": "imagenet_1k", "condition": "val", "labels": [0], "format": "jpeg",
            "source_key": "s", "source_file": "s"}  # fmt: skip
    write_dataset(
        root, "imagenet_1k/val", [Sample("s", jpeg(3), "jpg", 0, meta)], label_space="ilsvrc1000"
    )
    assert contact_strip_of(root, "imagenet_1k/val") is None


def test_a_reviewed_source_shows_what_was_decided(tmp_path):
    root = open_root(tmp_path / "lake")
    video_lake.fill_video(root, models=())
    uri = contact_strip(root, video_lake.SOURCE, reviewed=True, sets=4)
    assert uri == contact_strip(root, video_lake.SOURCE, reviewed=True, sets=4)
    first = opened(uri)
    assert near(first, RED) > 200
    assert near(first, GREEN) > 2 * near(first, RED)
    # As it is decided now is as it was frozen, and before anything is decided all is open.
    review = Review.open(root, video_lake.SOURCE, catalogued(root, load()))
    now = contact_strip(root, video_lake.SOURCE, decisions=review.decisions(), sets=4)
    assert now == uri
    nothing = decide(review.anchors, review.pairs, [])
    pending = opened(contact_strip(root, video_lake.SOURCE, decisions=nothing, sets=4))
    assert near(pending, GREY) > 200
    assert near(pending, RED) + near(pending, GREEN) < 50


def near(sheet: Image.Image, colour: tuple[int, int, int]) -> int:
    return int((np.abs(np.asarray(sheet).astype(int) - colour).max(axis=2) < 24).sum())
