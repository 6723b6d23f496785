"""Whatever the container, frame n is frame n: number, pixels, type and time."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_clips import CLIPS, MadeClip, paint, read_number, write_clip

from ops.errors import ShiftlakeError
from ops.video.decoding import open_video


@cache
def _in_order(path: Path) -> list[tuple[npt.NDArray[np.uint8], str]]:
    """Pixels as stored, and type, of every frame in turn: decoded from the start, no seeking."""
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        return [
            (
                frame.to_ndarray(format="rgb24").copy(),
                av.video.frame.PictureType(frame.pict_type).name,
            )
            for frame in container.decode(video=0)
        ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MadeClip]:
    """Every kind of clip, written once."""
    folder = tmp_path_factory.mktemp("clips")
    return {name: make(folder / name) for name, make in CLIPS.items()}


@pytest.mark.parametrize("name", CLIPS)
def test_every_frame_is_the_one_that_is_asked_for(made: dict[str, MadeClip], name: str) -> None:
    clip = made[name]
    with open_video(clip.path) as video:
        pictures = video.read(range(video.n_frames))
        assert [picture.problem for picture in pictures] == [None] * len(clip.numbers)
        assert [read_number(picture.pixels) for picture in pictures] == list(clip.numbers)
        assert np.allclose(video.seconds, clip.seconds, atol=0.0011)  # Matroska counts in ms
        assert video.n_damaged == 0
        assert video.problem is None


@pytest.mark.parametrize("name", CLIPS)
def test_sets_at_any_place_have_the_pixels_of_decoding_in_order(
    made: dict[str, MadeClip], name: str
) -> None:
    truth = _in_order(made[name].path)
    with open_video(made[name].path) as video:
        assert video.n_frames == len(truth)
        anchors = (0, 1, len(truth) // 3, len(truth) // 2, len(truth) - 1)
        for anchor in anchors:
            near = range(max(0, anchor - 10), min(len(truth), anchor + 11))
            for picture in video.read(near):
                pixels, kind = truth[picture.index]
                stored = np.rot90(pixels, video.rotation // 90)
                stored = stored[:, ::-1] if name == "mirrored.mp4" else stored
                assert np.array_equal(picture.pixels, stored)
                assert picture.pict_type == (kind if kind in "IPB" else None)
                assert picture.seconds == video.seconds[picture.index]


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(["plain.mp4", "open-gop.mp4", "broadcast.ts", "variable.mkv", "cut.mp4"]),
    asked=st.lists(st.integers(0, 32), min_size=1, max_size=12),
)
def test_frames_come_in_order_and_once_however_they_are_asked_for(
    made: dict[str, MadeClip], name: str, asked: list[int]
) -> None:
    with open_video(made[name].path) as video:
        pictures = video.read(asked)
    assert [picture.index for picture in pictures] == sorted(set(asked))
    assert [read_number(picture.pixels) for picture in pictures] == [
        made[name].numbers[index] for index in sorted(set(asked))
    ]


def test_one_object_reads_many_sets_forwards_and_backwards(made: dict[str, MadeClip]) -> None:
    with open_video(made["plain.mp4"].path) as video:
        for index in (59, 0, 30, 29, 59, 1):
            assert read_number(video.read([index])[0].pixels) == index


def test_far_apart_frames_are_read_in_one_call_without_those_between(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "long.mp4", frames=400, gop=20)
    with open_video(clip.path) as video:
        asked = [3, 4, 5, 200, 201, 397]
        assert [read_number(picture.pixels) for picture in video.read(asked)] == asked


@pytest.mark.parametrize(
    ("name", "fps", "variable"),
    [
        ("plain.mp4", 30, False),
        ("ntsc.mp4", 30000 / 1001, False),
        ("film.mkv", 24000 / 1001, False),
        ("slow.mp4", 15, False),
        ("flash.flv", 30, False),
        ("cut.mp4", 30, False),
        ("variable.mp4", 30, True),
        ("variable.mkv", 30, True),
        ("halved.mp4", 30, True),
    ],
)
def test_the_rate_is_that_of_the_frames(
    made: dict[str, MadeClip], name: str, fps: float, variable: bool
) -> None:
    with open_video(made[name].path) as video:
        assert video.fps == pytest.approx(fps, rel=1e-6)
        assert video.variable_rate is variable


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_turned_clips_are_given_upright_at_the_size_they_are_displayed(
    made: dict[str, MadeClip], degrees: int
) -> None:
    with open_video(made[f"turned-{degrees}.mp4"].path) as video:
        assert (video.width, video.height, video.rotation) == (160, 96, degrees)
        (picture,) = video.read([7])
    assert picture.pixels.shape == (96, 160, 3)
    assert picture.pixels.flags.c_contiguous
    assert np.abs(picture.pixels.astype(int) - paint(7)).mean() < 6


def test_vp9_tells_turn_and_types_though_its_decoder_does_not(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.webm", codec="libvpx-vp9", frames=30, rotation=90)
    with open_video(clip.path) as video:
        assert (video.width, video.height, video.rotation) == (160, 96, 90)
        pictures = video.read([0, 5, 12, 29])
    assert [read_number(picture.pixels) for picture in pictures] == [0, 5, 12, 29]
    assert [picture.pict_type for picture in pictures] == ["I", "P", "I", "P"]


def test_size_is_known_before_and_after_frames_are_read(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "high.mp4", width=96, height=160, rotation=90, frames=5)
    with open_video(clip.path) as video:
        assert (video.width, video.height) == (96, 160)
    with open_video(clip.path) as video:
        video.read([2])
        assert (video.width, video.height) == (96, 160)


def test_frames_that_vp8_only_refers_to_are_not_counted(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "shown.webm", codec="libvpx", options={"b": "1M"})
    hidden = tmp_path / "hidden.webm"
    with av.open(str(clip.path)) as source, av.open(str(hidden), "w") as target:
        copy = target.add_stream_from_template(source.streams.video[0])
        for place, packet in enumerate(source.demux(video=0)):
            if packet.size:
                content = bytearray(bytes(packet))
                content[0] &= 0xFF if place != 20 else 0xEF  # without its bit to be shown
                changed = av.Packet(bytes(content))
                changed.pts, changed.dts, changed.time_base = (
                    packet.pts,
                    packet.dts,
                    packet.time_base,
                )
                changed.stream, changed.is_keyframe = copy, packet.is_keyframe
                target.mux(changed)
    with open_video(hidden) as video:
        numbers = [read_number(picture.pixels) for picture in video.read(range(video.n_frames))]
    assert numbers == [number for number in range(60) if number != 20]


def test_names_are_not_taken_for_addresses_or_patterns(
    made: dict[str, MadeClip], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("concat:a|b.mp4", "%03d.mp4", "http:video.mp4", "-i.mp4", "ü ☃.mp4"):
        Path(name).write_bytes(made["three.mp4"].path.read_bytes())
        with open_video(Path(name)) as video:
            assert (video.n_frames, video.where) == (3, name)


@pytest.mark.parametrize("asked", [[-1], [60], [0, 10_000]])
def test_frames_that_there_are_not_are_refused(made: dict[str, MadeClip], asked: list[int]) -> None:
    with (
        open_video(made["plain.mp4"].path) as video,
        pytest.raises(ShiftlakeError, match="0 to 59"),
    ):
        video.read(asked)


def test_a_closed_video_says_so(made: dict[str, MadeClip]) -> None:
    with open_video(made["plain.mp4"].path) as video:
        pass
    video.close()
    assert (video.width, video.height, video.n_frames) == (160, 96, 60)
    with pytest.raises(ShiftlakeError, match="closed"):
        video.read([0])


def test_asking_for_nothing_gives_nothing(made: dict[str, MadeClip]) -> None:
    with open_video(made["plain.mp4"].path) as video:
        assert video.read([]) == []


def test_two_readers_of_one_file_do_not_disturb_each_other(made: dict[str, MadeClip]) -> None:
    with open_video(made["plain.mp4"].path) as one, open_video(made["plain.mp4"].path) as other:
        first, second = one.pictures(range(20)), other.pictures(range(30, 50))
        for index, (a, b) in enumerate(zip(first, second, strict=True)):
            assert (read_number(a.pixels), read_number(b.pixels)) == (index, 30 + index)


def test_reading_may_be_given_up_and_taken_up_again(made: dict[str, MadeClip]) -> None:
    with open_video(made["long-gop.mp4"].path) as video:
        assert next(video.pictures(range(10, 40))).index == 10
        assert [read_number(picture.pixels) for picture in video.read([5, 50])] == [5, 50]


def test_4k_frames_are_read(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "4k.mp4", frames=3, width=3840, height=2160)
    with open_video(clip.path) as video:
        assert (video.width, video.height) == (3840, 2160)
        assert [read_number(picture.pixels) for picture in video.read([0, 1, 2])] == [0, 1, 2]


def test_one_frame_is_a_video(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "one.mp4", frames=1, fps=Fraction(25))
    with open_video(clip.path) as video:
        assert (video.n_frames, video.fps, video.variable_rate) == (1, 25, False)
        assert read_number(video.read([0])[0].pixels) == 0
