"""The three kinds of source, mined: what the labels say arrives in the sealed frames."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from made_sources import demo_source, imagenet_vid_source, with_yaml, youtube_bb_source

from ops.catalog import load
from ops.miniature import labelled_videos, youtube_bb
from ops.shards import read_shard
from ops.storage import Root, open_root
from ops.video.mining import mine, read_mined
from ops.video.mining.config import MiningConfig
from ops.video.sources import read_source


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    demo_source(folder)
    imagenet_vid_source(folder)
    youtube_bb_source(folder, "mining: {per: segment, k: 4}\n")
    return folder


@pytest.fixture(scope="module")
def lake(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    root = open_root(tmp_path_factory.mktemp("mined") / "lake")
    # From any frame of 44 to the other half of its video.
    mine(root, load(), read_source(videos, "demo").with_mining(MiningConfig(k=22)), workers=1)
    for name in ("vid", "bb"):
        mine(root, load(), read_source(videos, name), workers=1)
    return root


def rows(lake: Root, source: str, table: str) -> list[dict]:
    return read_mined(lake, source, table).to_pylist()


def test_every_clip_of_the_demo_is_a_row_and_the_bad_ones_say_why(lake):
    states = {row["clip"]: row for row in rows(lake, "demo", "videos")}
    assert len(states) == len(labelled_videos.CLIPS) + 3
    bad = {clip: row["status"] for clip, row in states.items() if row["status"] != "ok"}
    assert bad == {"empty": "failed", "breaks_off": "failed", "lost": "missing"}
    assert all(states[clip]["reason"] for clip in bad)
    assert states["bird_turns"]["fps"] == 15
    assert states["bus_three_frames"]["n_frames"] == 3


def test_neighbours_of_another_class_are_left_out_and_those_of_another_shot_are_not(lake):
    reasons = {}
    for row in rows(lake, "demo", "left_out"):
        clip = row["frame_set"].split("/")[0]
        reasons.setdefault(clip, set()).add(row["reason"])
    assert "label" in reasons["bear_then_zebra"]
    assert "label" not in reasons.get("lion_is_cut", set()), "this one is for the reviewers"
    frames = [row for row in rows(lake, "demo", "frames") if row["clip"] == "bus_three_frames"]
    assert len(frames) == 3


def test_published_jpegs_keep_their_bytes_and_boxes_their_flags(lake, videos):
    manifest = mine(lake, load(), read_source(videos, "vid"), workers=1)
    published = {
        each.read_bytes() for each in (videos / "vid" / "ILSVRC2015" / "Data").rglob("*.JPEG")
    }
    samples = [sample for shard in manifest.shards for sample in read_shard(lake, manifest, shard)]
    assert len(samples) == manifest.n_samples
    assert {sample.image for sample in samples} <= published
    flags = {box["generated"] for sample in samples for box in sample.meta["boxes"] or ()}
    assert flags == {True, False}


def test_anchors_of_youtube_bb_lie_at_the_annotated_times(lake):
    """The first frame presented at or after the time, at 30, 25 and 15 frames a second."""
    anchors = [row for row in rows(lake, "bb", "frames") if row["frame_offset"] == 0]
    assert {row["fps"] for row in anchors} == {30.0, 25.0, 15.0}
    for row in anchors:
        made = youtube_bb.VIDEOS[row["video"]]
        # Published times are a fifteenth of a second, cut to milliseconds.
        exact = [round(time * 15 / 1000) / 15 for time in made.times_ms]
        assert row["frame"] in {math.ceil(time * made.fps - 1e-6) for time in exact}
        assert row["label_source"] == "annotated"
    others = [row for row in rows(lake, "bb", "frames") if row["frame_offset"] != 0]
    assert {row["label_source"] for row in others} <= {"propagated", "annotated"}
    labels = {row["frame_set"]: row["labels"] for row in anchors}
    assert all(row["labels"] == labels[row["frame_set"]] for row in others)
    for row in anchors:
        for box in row["boxes"] or ():
            assert 0 <= box["xmin"] < box["xmax"] <= 96, "pixels, and no longer shares"


def test_snippets_tell_what_frames_cannot(lake, videos):
    text = "kind: imagenet_vid\nroot: ../vid/ILSVRC2015\npictures: snippets\nmining: {k: 2}\n"
    with_yaml(videos, "snippets", text)
    mine(lake, load(), read_source(videos, "snippets"), workers=1)
    told = {row["pict_type"] for row in rows(lake, "snippets", "frames")}
    assert told <= {"I", "P", "B"}
    assert {row["fps"] for row in rows(lake, "snippets", "frames")} == {30.0}
    assert {row["pict_type"] for row in rows(lake, "vid", "frames")} == {None}
