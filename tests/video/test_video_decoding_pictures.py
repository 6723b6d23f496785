"""Colours, the JPEG of a frame, and folders of published frames."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from made_clips import paint, read_number, write_clip, write_frame_folder
from PIL import Image

from ops.errors import ShiftlakeError
from ops.video.decoding import Picture, UnreadableVideo, frame_jpeg, open_video

COLOURS = np.array([(200, 40, 60), (30, 180, 70), (60, 50, 190), (210, 200, 40)], np.uint8)
BT709, BT601 = 1, 5


def quarters(number: int, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Four flat colours, in which a wrong matrix is seen."""
    return COLOURS.reshape(2, 2, 3).repeat(height // 2, axis=0).repeat(width // 2, axis=1)


def centres(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """The colours in the middle of the quarters."""
    height, width = pixels.shape[:2]
    rows, columns = (height // 4, 3 * height // 4), (width // 4, 3 * width // 4)
    return np.array([pixels[row, column] for row in rows for column in columns]).astype(int)


def first(path: Path, **options: bool) -> Picture:
    with open_video(path, **options) as video:
        return video.read([0])[0]


@pytest.mark.parametrize(("transfer", "told"), [(18, "HLG"), (16, "PQ"), (1, None)])
def test_high_dynamic_range_is_told(tmp_path: Path, transfer: int, told: str | None) -> None:
    clip = write_clip(
        tmp_path / "a.mp4", frames=3, colour={"color_trc": transfer, "color_primaries": 9}
    )
    with open_video(clip.path) as video:
        assert video.problem is None if told is None else told in str(video.problem)
        assert video.read([1])[0].problem is None


@pytest.mark.parametrize(("matrix", "tag"), [(BT709, "bt709"), (BT601, "bt470bg")])
@pytest.mark.parametrize("full", [False, True])
def test_tagged_colours_come_back(tmp_path: Path, matrix: int, tag: str, full: bool) -> None:
    clip = write_clip(
        tmp_path / "tagged.mp4",
        frames=2,
        drawn=quarters,
        matrix=matrix,
        colour={"colorspace": matrix, "color_range": 2 if full else 1},
    )
    with open_video(clip.path, untagged_hd_is_bt709=True) as video:
        assert video.color_space == tag
        assert np.abs(centres(video.read([0])[0].pixels) - COLOURS).max() <= 4


@pytest.mark.parametrize("height", [718, 720])
def test_untagged_hd_is_bt601_unless_told_otherwise(tmp_path: Path, height: int) -> None:
    clip = write_clip(
        tmp_path / "untagged.mp4", frames=1, width=320, height=height, drawn=quarters, matrix=BT709
    )
    as_usual = first(clip.path)
    switched = first(clip.path, untagged_hd_is_bt709=True)
    assert np.abs(centres(as_usual.pixels) - COLOURS).max() > 15
    assert bool(np.abs(centres(switched.pixels) - COLOURS).max() <= 4) is (height >= 720)
    with open_video(clip.path) as video:
        assert video.color_space is None


def test_a_jpeg_is_of_quality_95_with_chroma_subsampled(tmp_path: Path) -> None:
    picture = first(write_clip(tmp_path / "a.mp4", frames=1).path)
    data = frame_jpeg(picture)
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size, image.mode) == ("JPEG", (160, 96), "RGB")
    assert [part[1:3] for part in image.layer] == [(2, 2), (1, 1), (1, 1)]
    reference = io.BytesIO()
    Image.fromarray(picture.pixels).save(reference, "JPEG", quality=95, subsampling="4:2:0")
    assert image.quantization == Image.open(reference).quantization
    assert read_number(np.asarray(image)) == 0
    assert np.abs(np.asarray(image).astype(int) - picture.pixels).mean() < 2


def test_the_same_frame_is_the_same_jpeg_whatever_was_read_before(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", gop=250)
    with open_video(clip.path) as video:
        together = {one.index: frame_jpeg(one) for one in video.read(range(60))}
        alone = {index: frame_jpeg(video.read([index])[0]) for index in (59, 17, 0, 33)}
    assert alone == {index: together[index] for index in alone}


def test_quality_is_what_is_asked_for(tmp_path: Path) -> None:
    picture = first(write_clip(tmp_path / "a.mp4", frames=1).path)
    assert len(frame_jpeg(picture, 50)) < len(frame_jpeg(picture, 95))


@pytest.mark.parametrize("quality", [0, 101])
def test_qualities_that_there_are_not_are_refused(tmp_path: Path, quality: int) -> None:
    picture = first(write_clip(tmp_path / "a.mp4", frames=1).path)
    with pytest.raises(ShiftlakeError, match="quality"):
        frame_jpeg(picture, quality)


def test_a_damaged_frame_has_no_jpeg() -> None:
    with pytest.raises(ShiftlakeError, match="flagged"):
        frame_jpeg(Picture(3, 0.1, "P", None, "flagged"))


def test_published_frames_keep_their_bytes(tmp_path: Path) -> None:
    clip = write_frame_folder(tmp_path / "ILSVRC2015_val_00000000", frames=25)
    files = sorted(clip.path.iterdir())
    with open_video(clip.path) as video:
        assert (video.n_frames, video.width, video.height) == (25, 160, 96)
        assert (video.rotation, video.codec, video.variable_rate) == (0, "mjpeg", False)
        assert math.isnan(video.fps)
        assert np.isnan(video.seconds).all()
        for picture in video.read([24, 3, 4, 3]):
            assert frame_jpeg(picture) == picture.jpeg == files[picture.index].read_bytes()
            assert read_number(picture.pixels) == picture.index
            assert picture.pict_type is None
        assert video.n_damaged == 0


def test_a_rate_gives_published_frames_times(tmp_path: Path) -> None:
    clip = write_frame_folder(tmp_path / "frames", frames=5, first=7)
    with open_video(clip.path, fps=25) as video:
        assert video.fps == 25
        assert video.seconds.tolist() == pytest.approx([0, 0.04, 0.08, 0.12, 0.16])
        assert video.numbers == (7, 8, 9, 10, 11)


def test_missing_numbers_are_gaps_in_time(tmp_path: Path) -> None:
    clip = write_frame_folder(tmp_path / "frames", frames=6)
    (clip.path / "000002.JPEG").unlink()
    with open_video(clip.path, fps=10) as video:
        assert video.variable_rate
        assert video.seconds.tolist() == pytest.approx([0, 0.1, 0.3, 0.4, 0.5])
        assert [read_number(one.pixels) for one in video.read(range(5))] == [0, 1, 3, 4, 5]


def test_frames_sort_by_number_and_other_files_do_not_count(tmp_path: Path) -> None:
    for number in (2, 10, 9):
        Image.fromarray(paint(number)).save(tmp_path / f"frame-{number}.jpg", quality=95)
    (tmp_path / "annotations.xml").write_text("<annotation/>")
    (tmp_path / "folder-1.jpg").mkdir()
    with open_video(tmp_path) as video:
        assert [read_number(one.pixels) for one in video.read(range(3))] == [2, 9, 10]


def test_a_damaged_published_frame_is_left_out_with_its_reason(tmp_path: Path) -> None:
    clip = write_frame_folder(tmp_path / "frames", frames=6)
    files = sorted(clip.path.iterdir())
    files[1].write_bytes(files[1].read_bytes()[:900])
    files[2].write_bytes(b"")
    files[3].write_bytes(b"<html>404</html>")
    Image.fromarray(paint(4, 320, 192)).save(files[4], format="JPEG")
    with open_video(clip.path) as video:
        pictures = video.read(range(6))
        assert [one.problem is None for one in pictures] == [True, False, False, False, False, True]
        assert pictures[2].problem == "no bytes"
        assert pictures[4].problem == "of another size: 320 x 192 pixels"
        assert video.n_damaged == 4


@pytest.mark.parametrize("names", [(), ("readme.txt",), ("1.jpg", "01.jpg"), ("a1.jpg", "b2.jpg")])
def test_folders_that_are_no_series_of_frames_are_named(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        Image.fromarray(paint(1)).save(tmp_path / name, format="JPEG")
    with pytest.raises(UnreadableVideo) as caught:
        open_video(tmp_path)
    assert str(tmp_path.parent) not in str(caught.value)
