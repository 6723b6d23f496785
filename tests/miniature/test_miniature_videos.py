"""The drawn videos: the same bytes each time, and the truth about every frame."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from ops.miniature import imagenet_vid, labelled_videos, youtube_bb
from ops.miniature.classes import LOOKS
from ops.miniature.draw import extent, photo, pose
from ops.miniature.filming import CAMERA, SIDE, Shot, Thing, film
from ops.miniature.keyed import generator

TREES = {"vid": imagenet_vid.write, "bb": youtube_bb.write, "own": labelled_videos.write}


def hashes(folder: Path) -> dict[str, str]:
    return {
        each.relative_to(folder).as_posix(): hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("trees")
    for name, write in TREES.items():
        write(top / name)
    return {name: top / name for name in TREES}


@pytest.mark.parametrize("name", TREES)
def test_the_same_seed_gives_the_same_bytes_and_another_one_others(trees, tmp_path, name):
    first = hashes(trees[name])
    TREES[name](tmp_path / "again")
    assert hashes(tmp_path / "again") == first
    TREES[name](tmp_path / "other", seed=1)
    other = hashes(tmp_path / "other")
    assert set(other) == set(first)
    videos = [path for path in first if path.endswith((".mp4", ".JPEG"))]
    same = [path for path in videos if first[path] == other[path]]
    assert all(path.endswith((labelled_videos.EMPTY, "miniEmpty05.mp4")) for path in same)


def frames_of(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_every_clip_has_the_frames_its_labels_tell_of(trees):
    rows = json.loads((trees["own"] / "labels.json").read_text())
    for name, (_, shots) in labelled_videos.CLIPS.items():
        frames = frames_of(trees["own"] / "videos" / f"{name}.mp4")
        assert len(frames) == sum(shot.frames for shot in shots), name
        assert frames[0].shape == (SIDE, SIDE, 3)
        told = [row["frame"] for row in rows if row["video"] == f"{name}.mp4" and "frame" in row]
        assert told == ([] if name == labelled_videos.WHOLE else list(range(len(frames))))


def test_one_clip_is_empty_one_breaks_off_and_one_is_not_there(trees):
    videos = trees["own"] / "videos"
    assert (videos / labelled_videos.EMPTY).stat().st_size == 0
    with pytest.raises(av.error.InvalidDataError):
        frames_of(videos / labelled_videos.BROKEN)
    assert not (videos / labelled_videos.ABSENT).exists()


@pytest.mark.parametrize("look", LOOKS)
def test_a_box_holds_all_of_a_thing_and_no_more(look):
    """Drawn with and without the thing, only pixels inside the box differ, up to its edges."""
    rng = generator(0, "box", look)
    where = pose(rng, CAMERA)
    parts = LOOKS[look]
    pictures = [
        np.asarray(photo(drawn, where, generator(0, "grain"), 0.0), dtype=np.int16)
        for drawn in (parts, [])
    ]
    rows, columns = np.nonzero((pictures[0] != pictures[1]).any(axis=2))
    left, top, right, bottom = extent(parts, where)
    width, height = where.size
    found = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    box = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    # A pixel of the drawing, and what the blur adds.
    assert np.abs(np.subtract(found, box)).max() <= 3, (found, box)


def test_things_leave_the_picture_and_are_hidden():
    gone = film((Shot((Thing(0, 404),), 60, speed=(0.05, 0.0)),), 0, "gone")
    assert [len(gone.seen[at]) for at in (0, 30, 59)] == [0, 1, 0]
    hidden = film((Shot((Thing(5, 779),), 40, passing=range(10, 30)),), 0, "hidden")
    occluded = [seen[0].occluded for seen in hidden.seen]
    assert not any(occluded[:10])
    assert not any(occluded[30:])
    assert any(occluded[10:30])
    cut = film((Shot((Thing(5, 779),), 5), Shot((Thing(15, 291),), 5)), 0, "cut")
    assert cut.cuts == (5,)
    assert [seen[0].track for seen in cut.seen] == [0] * 5 + [1] * 5


def test_imagenet_vid_lies_as_its_archive_is_unpacked(trees):
    names = set(hashes(trees["vid"]))
    snippet = "ILSVRC2015_val_00000000"
    for path in (
        f"Data/VID/val/{snippet}/000000.JPEG",
        f"Annotations/VID/val/{snippet}/000000.xml",
        f"Data/VID/snippets/val/{snippet}.mp4",
        "ImageSets/VID/val.txt",
        "ImageSets/VID/train_30.txt",
        "Data/VID/train/ILSVRC2015_VID_train_0000/ILSVRC2015_train_00005000/000011.JPEG",
    ):
        assert f"ILSVRC2015/{path}" in names
    top = trees["vid"] / "ILSVRC2015"
    assert (top / "ImageSets/VID/val.txt").read_text().startswith(f"{snippet}/000000 1\n")
    text = (top / f"Annotations/VID/val/{snippet}/000000.xml").read_text()
    assert text.index("<xmax>") < text.index("<xmin>") < text.index("<ymax>")
    frame = np.asarray(Image.open(top / f"Data/VID/val/{snippet}/000007.JPEG"), dtype=np.int16)
    clip = frames_of(top / f"Data/VID/snippets/val/{snippet}.mp4")
    assert np.abs(frame - clip[7]).mean() < 6, "picture n of the clip is file n"
