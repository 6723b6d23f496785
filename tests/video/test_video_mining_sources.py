"""Mining out of every kind of source: trees on disk with the names and oddities of real ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ops.catalog import load
from ops.miniature import imagenet_vid, labelled_videos, youtube_bb
from ops.storage import Root, open_root
from ops.video.checks import check_frame_sets
from ops.video.frame_sets import read_frame_sets
from ops.video.mining import mine, read_mined
from ops.video.sources import read_source


def mined(place: Path, name: str, **entry: Any) -> tuple[Root, dict[str, list[dict[str, Any]]]]:
    """Mine a source, see that every check holds, and read its tables."""
    if entry:
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / "source.yaml").write_text(json.dumps(entry))
    root = open_root(place.parent / "lake")
    mine(root, load(), read_source(place, name), workers=1)
    found = check_frame_sets(root, f"frame_sets/{name}")
    assert not [problem for problems, _ in found.values() for problem in problems]
    tables = ("videos", "frames", "left_out", "pairs")
    return root, {table: read_mined(root, name, table).to_pylist() for table in tables}


@pytest.fixture(scope="module")
def vid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds ``ILSVRC2015``."""
    folder = tmp_path_factory.mktemp("vid")
    imagenet_vid.write(folder)
    return folder


def test_the_published_frames_of_imagenet_vid_keep_their_bytes(tmp_path: Path, vid: Path) -> None:
    tree = vid / imagenet_vid.TOP
    root, tables = mined(tmp_path / "videos", "vid", kind="imagenet_vid", root=str(tree))
    assert {row["status"] for row in tables["videos"]} == {"ok"}
    sets = list(read_frame_sets(root, "frame_sets/vid"))
    assert len(sets) == len(imagenet_vid.VAL)
    for frames in sets:
        for frame in frames:
            clip, _, number = frame.key.split("/")
            published = tree / "Data" / "VID" / "val" / clip / f"{number}.JPEG"
            assert frame.image == published.read_bytes()
    frames = tables["frames"]
    assert all(row["annotated"] and row["label_source"] == "annotated" for row in frames)
    assert {box["generated"] for row in frames for box in row["boxes"]} == {True, False}
    assert {row["pict_type"] for row in frames} == {None}


def test_the_clips_of_imagenet_vid_tell_frame_types_and_have_the_same_anchors(
    tmp_path: Path, vid: Path
) -> None:
    tree = str(vid / imagenet_vid.TOP)
    told: dict[str, Any] = {"kind": "imagenet_vid", "root": tree, "mining": {"k": 2}}
    _, jpeg = mined(tmp_path / "videos", "vid", **told)
    _, clips = mined(tmp_path / "more" / "videos", "vid", **told, pictures="snippets")
    assert {row["pict_type"] for row in clips["frames"]} <= {"I", "P", "B"}
    assert {row["fps"] for row in clips["frames"]} == {30.0}
    assert [row["sample_key"] for row in clips["frames"]] == [
        row["sample_key"] for row in jpeg["frames"]
    ]


def test_published_sets_of_imagenet_vid_robust_are_taken_and_no_other(
    tmp_path: Path, vid: Path
) -> None:
    first, second = list(imagenet_vid.VAL)[:2]
    sets = {(first, 9): (4, 8, 10, 19), (second, 0): ()}

    def path(snippet: str, frame: int) -> str:
        return f"val/{snippet}/{frame:06d}.JPEG"

    pmsets = {path(*anchor): [path(anchor[0], at) for at in of] for anchor, of in sets.items()}
    labels = {key: [4] for anchor, of in pmsets.items() for key in (anchor, *of)}
    (tmp_path / "pmsets.json").write_text(json.dumps(pmsets))
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    files = {"pmsets": str(tmp_path / "pmsets.json"), "labels": str(tmp_path / "labels.json")}
    tree = str(vid / imagenet_vid.TOP)
    _, tables = mined(tmp_path / "videos", "vid", kind="imagenet_vid", root=tree, frame_sets=files)
    found = {(row["clip"], row["frame"]) for row in tables["frames"]}
    assert found == {(anchor[0], at) for anchor, of in sets.items() for at in (anchor[1], *of)}
    assert all(row["labels"] == [4] for row in tables["frames"])
    reasons = Counter(row["reason"] for row in tables["left_out"])
    assert reasons == {"unlisted": 21 - 5 - 1 + 10, "boundary": 1 + 10}
    states = Counter(row["status"] for row in tables["videos"])
    assert states == {"ok": 2, "no_label": len(imagenet_vid.VAL) - 2}


def test_segments_of_youtube_bb_and_the_videos_that_are_gone(tmp_path: Path) -> None:
    youtube_bb.write(tmp_path / "files")
    told = {
        "kind": "youtube_bb",
        "labels": [
            str(tmp_path / "files" / file)
            for name, file in youtube_bb.FILES.items()
            if name.startswith("detection")
        ],
        "videos": str(tmp_path / "files" / "videos"),
        "mining": {"per": "segment"},
    }
    _, tables = mined(tmp_path / "videos", "ytbb", **told)
    videos = {row["clip"]: row for row in tables["videos"]}
    assert videos["miniGone004"]["status"] == "missing"
    assert videos["miniEmpty05"]["status"] == "failed"
    # Two birds, each a segment of its own: two anchors of one video, which intervals must know.
    assert videos["mini_Birds2"]["n_anchors"] == 2
    assert {row["video"] for row in tables["frames"] if row["clip"] == "mini_Birds2"} == {
        "mini_Birds2"
    }
    for row in tables["frames"]:
        if row["frame_offset"] == 0:
            assert row["label_source"] == "annotated"
            # 1067 ms is frame 32 at 30 frames a second: 32/30 s, rounded.
            assert row["seconds"] >= 0
            times = [time / 1000 for time in youtube_bb.VIDEOS[row["video"]].times_ms]
            assert min(abs(row["seconds"] - time) for time in times) < 0.067
        else:
            assert row["label_source"] == "propagated"


def test_the_demo_has_something_of_every_kind(tmp_path: Path) -> None:
    labelled_videos.write(tmp_path / "videos" / "demo")
    _, tables = mined(tmp_path / "videos", "demo")
    states = Counter(row["status"] for row in tables["videos"])
    assert states["ok"] >= 12
    assert states["failed"] == 2
    assert states["missing"] == 1
    reasons = {row["reason"] for row in tables["left_out"]}
    assert {"boundary", "label"} <= reasons
    assert {row["suggested"] for row in tables["pairs"]} == {
        "motion",
        "background",
        "blur",
        "other",
    }
    # What is out of focus is what is most suspected of being blurred.
    worst = max(tables["pairs"], key=lambda row: 1 - row["blur"])
    assert worst["frame_set"].startswith("bird_blurs/")
    assert worst["suggested"] == "blur"
