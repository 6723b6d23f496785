"""What orders the queue: each kind of change lowers the number that is there for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from made_clips import write_clip
from mined_source import DOG, MadeSource, clip_of, seen_in

from ops.catalog import load
from ops.storage import open_root
from ops.video.mining import MiningConfig, mine, read_mined
from ops.video.mining.cuts import cuts
from ops.video.mining.similarity import Similarity, compare, look, one_thread
from ops.video.mining.suspicion import REASONS, suspicion

Pixels = npt.NDArray[np.uint8]
HEIGHT, WIDTH = 256, 384


def textured(height: int, width: int, seed: int) -> Pixels:
    """Something with detail of every size, as photographs have."""
    random = np.random.default_rng(seed)
    total = np.zeros((height, width, 3), np.float32)
    for size in (2, 6, 20, 60):
        coarse = random.normal(size=(height // size + 2, width // size + 2, 3)).astype(np.float32)
        scaled = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        total += scaled * size**0.5
    total -= total.min()
    return (total / total.max() * 255).astype(np.uint8)


SCENE = textured(400, 600, 0)


def seen_from(x: int, y: int = 60) -> Pixels:
    return np.ascontiguousarray(SCENE[y : y + HEIGHT, x : x + WIDTH])


ANCHOR = seen_from(80)


def similarity(pixels: Pixels) -> Similarity:
    with one_thread():
        return compare(look(ANCHOR), look(pixels))


def occluded() -> Pixels:
    pixels = ANCHOR.copy()
    pixels[85:170, 128:256] = textured(85, 128, 5)
    return pixels


def elsewhere() -> Pixels:
    return (255 - textured(HEIGHT, WIDTH, 9) // 2).astype(np.uint8)


@pytest.fixture(scope="module")
def cases() -> dict[str, Similarity]:
    half = ANCHOR.copy()
    half[:, : WIDTH // 2] = textured(HEIGHT, WIDTH // 2, 7) // 3 + 150
    pictures = {
        "same": ANCHOR,
        "pan 1 %": seen_from(83),
        "pan 20 %": seen_from(131),
        "blur 1": cv2.GaussianBlur(ANCHOR, (0, 0), 1),
        "blur 3": cv2.GaussianBlur(ANCHOR, (0, 0), 3),
        "occluder": occluded(),
        "half": half,
        "cut": elsewhere(),
    }
    return {name: similarity(pixels) for name, pixels in pictures.items()}


def test_a_picture_is_like_itself(cases: dict[str, Similarity]) -> None:
    assert cases["same"] == Similarity(1.0, 1.0, 1.0, 1.0)


def test_the_farther_a_pan_the_larger_the_displacement(cases: dict[str, Similarity]) -> None:
    assert cases["pan 1 %"].displacement == pytest.approx(0.988, abs=0.004)
    assert cases["pan 20 %"].displacement < 0.85
    # With the motion taken back a small pan is no other picture, which plain SSIM takes it for.
    assert cases["pan 1 %"].structure > 0.95
    assert cases["pan 1 %"].structure > cases["cut"].structure + 0.2


def test_blur_and_nothing_else_lowers_the_sharpness(cases: dict[str, Similarity]) -> None:
    assert cases["blur 3"].blur < cases["blur 1"].blur < 0.5 < cases["pan 20 %"].blur
    assert cases["blur 3"].displacement > 0.98


def test_another_background_lowers_the_overlap_of_colours(cases: dict[str, Similarity]) -> None:
    histograms = [cases[name].histogram for name in ("cut", "half", "occluder", "pan 1 %")]
    assert histograms == sorted(histograms)
    assert histograms[0] < 0.3 < 0.8 < histograms[2]


def test_what_stands_in_front_lowers_the_structure(cases: dict[str, Similarity]) -> None:
    assert cases["occluder"].structure < cases["pan 1 %"].structure
    assert cases["occluder"].displacement > cases["pan 20 %"].displacement


WIDE = textured(96, 300, 5)


def shot(scene: Pixels, frames: int, step: int = 2, start: int = 0) -> list[Pixels]:
    """Frames of 128 pixels across a scene, each so many pixels farther to the right."""
    return [scene[:, start + step * at :][:, :128] for at in range(frames)]


def brighter(pixels: Pixels) -> Pixels:
    return np.clip(pixels.astype(int) * 2 + 40, 0, 255).astype(np.uint8)


def flashed(frames: int) -> list[Pixels]:
    found = shot(WIDE, 12)
    return [*found[:5], *map(brighter, found[5 : 5 + frames]), *found[5 + frames :]]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (shot(WIDE, 6) + shot(255 - textured(96, 300, 6) // 2, 6), [6]),
        (shot(WIDE, 6) + shot(WIDE[::-1, ::-1], 6), [6]),
        (shot(WIDE, 1) + shot(WIDE[::-1, ::-1], 5), [1]),
        (shot(WIDE, 4) + shot(WIDE[::-1, ::-1], 4) + shot(WIDE, 4, start=60), [4, 8]),
        (shot(WIDE, 12), []),
        (shot(WIDE, 5, step=40), []),
        (flashed(1), []),
        (flashed(2), []),
        (shot(WIDE, 6) + [cv2.GaussianBlur(each, (0, 0), 2) for each in shot(WIDE, 6)], []),
        (shot(WIDE, 1), []),
    ],
    ids=[
        *("other colours", "the same colours", "at once", "twice", "none", "fast pan"),
        *("flash", "two frames of flash", "out of focus", "one frame"),
    ],
)
def test_a_cut_is_told_from_all_else_that_changes_a_picture(
    frames: list[Pixels], expected: list[int]
) -> None:
    with one_thread():
        assert cuts([look(np.ascontiguousarray(each)) for each in frames]) == expected


@pytest.mark.parametrize("size", [(8, 9), (16, 16), (40, 500), (1000, 30), (96, 96)])
def test_pictures_of_any_size_can_be_compared(size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8)
    assert compare(look(pixels), look(pixels)) == Similarity(1.0, 1.0, 1.0, 1.0)
    other = compare(look(ANCHOR), look(pixels))
    assert all(0 <= getattr(other, name) <= 1 for name in REASONS)


def test_pictures_without_detail_do_not_divide_by_nothing() -> None:
    black, white = np.zeros((90, 90, 3), np.uint8), np.full((90, 90, 3), 255, np.uint8)
    assert compare(look(black), look(black)) == Similarity(1.0, 1.0, 1.0, 1.0)
    assert compare(look(black), look(white)).histogram == 0


def test_ranks_say_which_of_a_batch_to_look_at_first(cases: dict[str, Similarity]) -> None:
    names = list(cases)
    scores = {
        name: np.array([getattr(found, name) for found in cases.values()]) for name in REASONS
    }
    ranks, reasons = suspicion(scores)
    by_name = dict(zip(names, zip(ranks, reasons, strict=True), strict=True))
    assert by_name["same"][0] == 0.0
    assert by_name["pan 20 %"] == (1.0, "motion")
    assert by_name["blur 3"] == (1.0, "blur")
    assert by_name["cut"][0] == 1.0
    assert by_name["pan 1 %"][0] < by_name["occluder"][0]
    # All alike: none is suspicious. One alone: neither.
    assert not suspicion({name: np.full(4, 0.7) for name in REASONS})[0].any()
    assert suspicion({name: np.array([0.2]) for name in REASONS})[0].tolist() == [0.0]
    assert suspicion({name: np.empty(0) for name in REASONS})[0].size == 0


def test_the_order_of_a_batch_changes_no_rank() -> None:
    random = np.random.default_rng(2)
    scores = {name: random.random(50).round(1) for name in REASONS}
    turned = {name: values[::-1] for name, values in scores.items()}
    assert suspicion(scores)[0].tolist() == suspicion(turned)[0][::-1].tolist()


def test_neighbours_behind_a_cut_are_left_out_only_if_asked(tmp_path: Path) -> None:
    def two_shots(number: int, width: int, height: int) -> Pixels:
        scene = textured(height, width, 3) if number < 12 else 255 - textured(height, width, 4) // 2
        return np.roll(scene, number, axis=1).astype(np.uint8)

    write_clip(tmp_path / "a.mp4", frames=20, width=128, height=96, drawn=two_shots)
    source = MadeSource(
        {"a": clip_of(tmp_path / "a.mp4", seen_in({10: (DOG,)}))}, MiningConfig(k=4)
    )
    root = open_root(tmp_path / "lake")
    for asked, expected in ((False, {}), (True, {2: "cut", 3: "cut", 4: "cut"})):
        mine(root, load(), replace(source, mining=MiningConfig(k=4, cuts=asked)), workers=1)
        left = read_mined(root, "made", "left_out").to_pylist()
        assert {row["frame_offset"]: row["reason"] for row in left} == expected
    pairs = read_mined(root, "made", "pairs").to_pylist()
    assert [row["frame_offset"] for row in pairs] == [-4, -3, -2, -1, 1]
    assert all(0 <= row["suspicion"] <= 1 for row in pairs)
    # A moving picture: the farther away in time, the more it has moved.
    moved = {row["frame_offset"]: row["displacement"] for row in pairs}
    assert moved[-4] < moved[-2] < moved[-1] < 1
