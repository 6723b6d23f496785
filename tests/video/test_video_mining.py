"""Mined frame sets: the same bytes however they came about, and nothing lost without a word."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_clips import read_number, write_audio_only, write_clip, write_frame_folder
from mined_source import CAR, CAT, DOG, MadeSource, box, clip_of, dogs, seen_in, stored
from PIL import Image

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.shards import read_manifest
from ops.storage import Root, open_root
from ops.video.cataloguing import catalogued
from ops.video.clip import Annotation, Segment
from ops.video.frame_set import FrameSet
from ops.video.frame_sets import read_frame_sets
from ops.video.mining import MiningConfig, layout, mine, read_mined
from ops.video.mining.identity import require_same, stamp_of
from ops.video.sources import read_source

NAME = "frame_sets/made"
CATALOG = load()


def mined(root: Root, source: MadeSource, **options: object) -> dict[str, list[dict[str, object]]]:
    mine(root, CATALOG, source, workers=1, **options)  # type: ignore[arg-type]
    tables = ("videos", "frames", "left_out", "pairs")
    return {table: read_mined(root, "made", table).to_pylist() for table in tables}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> MadeSource:
    """Five videos with a dog in each."""
    return MadeSource(dogs(tmp_path_factory.mktemp("videos"), "a", "b", "c-d", "c", "e"))


def test_every_frame_is_the_one_its_key_names(root: Root, five: MadeSource) -> None:
    mine(root, CATALOG, five, workers=1)
    sets = list(read_frame_sets(root, NAME))
    assert len(sets) == 5
    for frames in sets:
        offsets = [frame.meta["frame_offset"] for frame in frames]
        assert offsets == sorted(offsets)
        assert 0 in offsets
        zero = frames[offsets.index(0)]
        for frame in frames:
            assert frame.image is not None
            pixels = np.asarray(Image.open(io.BytesIO(frame.image)))
            number = read_number(pixels)
            clip, anchor, name = frame.key.split("/")
            assert number == int(name) == int(anchor) + frame.meta["frame_offset"]
            assert frame.meta["frame_set"] == f"{clip}/{anchor}"
            assert frame.meta["source_key"] == frame.meta["source_file"] == f"{clip}.mp4"
            assert frame.meta["seconds"] == pytest.approx(number / 30, abs=1e-5)
            assert frame.meta["dt"] == pytest.approx(frame.meta["frame_offset"] / 30, abs=1e-5)
            assert (frame.meta["width"], frame.meta["height"]) == (96, 64) == pixels.shape[1::-1]
            assert frame.meta["pict_type"] in ("I", "P", "B")
            assert frame.meta["labels"] == [DOG]
            assert frame.cls is None
            assert "boxes" not in frame.meta, "nobody drew any"
        assert zero.key == f"{zero.meta['frame_set']}/{zero.meta['frame_set'].split('/')[1]}"


def test_the_same_bytes_with_one_process_and_with_two(
    tmp_path: Path, five: MadeSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "SETS_A_SHARD", 2)
    one, two = open_root(tmp_path / "one"), open_root(tmp_path / "two")
    manifest = mine(one, CATALOG, five, workers=1)
    assert mine(two, CATALOG, five, workers=2) == manifest
    assert len(manifest.shards) == 3
    assert manifest.synthetic
    assert manifest.licence == "CC0"
    assert stored(one) == stored(two)
    names = {path.rpartition("/")[2] for path in stored(one) if path.startswith("video/")}
    assert names == {
        "videos.parquet", "frames.parquet", "left_out.parquet", "pairs.parquet", "tables.json"
    }  # fmt: skip
    assert not any(str(tmp_path).encode() in data for data in stored(one).values())


def test_mining_again_changes_nothing(root: Root, five: MadeSource) -> None:
    first = mine(root, CATALOG, five, workers=1)
    before = {path: Path(root.at(path)).stat().st_mtime_ns for path in stored(root)}
    assert mine(root, CATALOG, five, workers=1) == first
    assert {path: Path(root.at(path)).stat().st_mtime_ns for path in stored(root)} == before
    whole = stored(root)
    tar = f"shards/{NAME}/{first.shards[0].name}"
    for lost in (tar, f"video/made/mined/{first.version}/pairs.parquet"):
        root.remove(lost)
        assert mine(root, CATALOG, five, workers=1) == first
        assert stored(root) == whole


def test_what_a_source_says_of_itself_is_corrected_without_mining_again(
    root: Root, five: MadeSource
) -> None:
    first = mine(root, CATALOG, five, workers=1)
    before = {path: Path(root.at(path)).stat().st_mtime_ns for path in stored(root)}
    corrected = mine(root, CATALOG, replace(five, synthetic=False), workers=1)
    assert (first.synthetic, corrected.synthetic) == (True, False)
    assert corrected == first.model_copy(update={"synthetic": False})
    assert read_manifest(root, NAME) == corrected
    after = {path: Path(root.at(path)).stat().st_mtime_ns for path in stored(root)}
    assert {path for path in before if before[path] != after[path]} == {
        f"shards/{NAME}/manifest.json"
    }


@pytest.mark.parametrize("how", [("--die-after", "2"), ("--die-inside", "10")])
def test_a_killed_mining_goes_on_where_it_was(
    tmp_path: Path, five: MadeSource, how: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "SETS_A_SHARD", 1)
    whole, cut = open_root(tmp_path / "whole"), open_root(tmp_path / "cut")
    mine(whole, CATALOG, five, workers=1)
    (tmp_path / "source").write_bytes(pickle.dumps(five))
    script = Path(__file__).with_name("mine_in_process.py")
    done = subprocess.run(
        [sys.executable, script, cut.url, tmp_path / "source", *how], timeout=100, check=False
    )
    assert done.returncode == -9
    tars = [path for path in cut.list("shards") if path.endswith(".tar")]
    assert 0 < len(tars) < 5
    assert not cut.exists(f"shards/{NAME}/manifest.json")
    places = {path: Path(cut.at(path)).stat().st_ino for path in tars}
    lines: list[str] = []
    mine(cut, CATALOG, five, workers=2, log=lines.append)
    assert f"{NAME}: {len(tars)} of 5 shards were finished before" in lines
    assert {path: Path(cut.at(path)).stat().st_ino for path in tars} == places, (
        "they stay untouched"
    )
    assert stored(cut) == stored(whole)


def test_another_video_changes_no_frame_of_the_others(
    tmp_path: Path, root: Root, five: MadeSource
) -> None:
    first = mine(root, CATALOG, five, workers=1)
    before = {
        frame.key: (frame.image, frame.meta)
        for frames in read_frame_sets(root, NAME)
        for frame in frames
    }
    more = replace(five, clips=five.clips | dogs(tmp_path / "more", "0new", "bb", "zz"))
    second = mine(root, CATALOG, more, workers=1)
    assert second.version != first.version
    after = {
        frame.key: (frame.image, frame.meta)
        for frames in read_frame_sets(root, NAME)
        for frame in frames
    }
    assert len({key.split("/")[0] for key in after}) == 8
    assert {key: after[key] for key in before} == before
    # Tables of the mining before can still be read, by its version.
    assert len(read_mined(root, "made", "frames", first.version)) == first.n_samples
    fewer = replace(five, clips={key: five.clips[key] for key in ("a", "e")})
    mine(root, CATALOG, fewer, workers=1)
    for frames in read_frame_sets(root, NAME):
        for frame in frames:
            assert before[frame.key] == (frame.image, frame.meta)


def test_the_version_follows_what_a_video_shows_and_not_its_place(
    tmp_path: Path, root: Root, five: MadeSource
) -> None:
    version = mine(root, CATALOG, five, workers=1).version
    moved = {
        key: replace(clip, path=(tmp_path / clip.file).resolve())
        for key, clip in five.clips.items()
    }
    for key, clip in five.clips.items():
        assert clip.path is not None
        assert moved[key].path is not None
        moved[key].path.write_bytes(clip.path.read_bytes())
    elsewhere = replace(five, clips=moved)
    assert mine(root, CATALOG, elsewhere, workers=1).version == version
    write_clip(tmp_path / "a.mp4", frames=24, width=96, height=64, numbers=range(100, 124))
    assert mine(root, CATALOG, elsewhere, workers=1).version != version


def test_broken_videos_are_rows_and_stop_nothing(tmp_path: Path, root: Root) -> None:
    good = dogs(tmp_path, "good")
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "page.mp4").write_text("<html>Not found</html>")
    write_audio_only(tmp_path / "sound.mp4")
    (tmp_path / "folder").mkdir()
    cut = (tmp_path / "good.mp4").read_bytes()
    (tmp_path / "cut.mp4").write_bytes(cut[: len(cut) // 2])
    (tmp_path / "noise.mp4").write_bytes(bytes(range(256)) * 40)
    write_clip(tmp_path / "three.mp4", frames=3, width=96, height=64)
    broken = ("empty", "page", "sound", "cut", "noise")
    clips = good | {name: clip_of(tmp_path / f"{name}.mp4") for name in (*broken, "three")}
    clips["folder"] = clip_of(tmp_path / "folder")
    clips["gone"] = clip_of(tmp_path / "gone.mp4")
    clips["absent"] = clip_of(None, key="absent", problem="absent.mp4 is not on disk")
    clips["xml"] = clip_of(tmp_path / "good.mp4", key="xml")
    clips["label"] = clip_of(tmp_path / "good.mp4", seen_in({0: (30,)}), key="label")
    infinite = Annotation((DOG,), frame=0, boxes=(box(DOG, float("inf")),))
    clips["box"] = clip_of(tmp_path / "good.mp4", Segment("", (infinite,)), key="box")
    clips["bare"] = clip_of(tmp_path / "good.mp4", seen_in({3: ()}), key="bare")
    clips["late"] = clip_of(tmp_path / "good.mp4", seen_in({24: (DOG,)}), key="late")
    tables = mined(root, MadeSource(clips, unreadable={"xml": "line 3: no box"}))
    videos = {row["clip"]: row for row in tables["videos"]}
    assert list(videos) == sorted(clips), "each has a row"
    states = {key: row["status"] for key, row in videos.items()}
    assert {key for key, state in states.items() if state == "ok"} == {"good", "three"}
    assert {key for key, state in states.items() if state == "missing"} == {"gone", "absent"}
    assert {key for key, state in states.items() if state == "no_label"} == {"bare", "late"}
    assert all(row["reason"] for key, row in videos.items() if states[key] != "ok")
    assert not any(str(tmp_path) in str(row) for row in tables["videos"])
    assert videos["xml"]["reason"] == "line 3: no box"
    assert "30 of a label space" in str(videos["label"]["reason"])
    assert "1 of 1 labelled moments lies behind" in str(videos["late"]["reason"])
    assert videos["good"]["n_anchors"] == 1
    assert videos["empty"]["n_anchors"] == 0
    assert videos["good"]["sha256"]
    assert videos["good"]["codec"] == "h264"
    # Three frames give a set of three: no more is there, and four places are told to be beyond.
    of_three = [row for row in tables["left_out"] if str(row["frame_set"]).startswith("three/")]
    assert len(of_three) == 4
    assert {row["reason"] for row in of_three} == {"boundary"}


def test_nothing_at_all_is_an_error(tmp_path: Path, root: Root) -> None:
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(ShiftlakeError, match="No frame set") as failure:
        mine(root, CATALOG, MadeSource({"empty": clip_of(tmp_path / "empty.mp4")}), workers=1)
    assert "1 videos" in str(failure.value)
    assert "0 bytes" in str(failure.value)


def test_damaged_frames_are_left_out_and_a_damaged_anchor_takes_its_set_along(
    tmp_path: Path, root: Root
) -> None:
    clips = {}
    for name, damaged in (("neighbour", (8, 11)), ("anchor", (9, 10))):
        folder = write_frame_folder(tmp_path / name, frames=20, width=96, height=64).path
        for at in damaged:
            frame = folder / f"{at:06d}.JPEG"
            frame.write_bytes(frame.read_bytes()[:300])
        clips[name] = clip_of(folder, seen_in({10: (DOG,)}))
    tables = mined(root, MadeSource(clips, MiningConfig(k=3)))
    videos = {row["clip"]: row for row in tables["videos"]}
    assert videos["neighbour"]["status"] == "ok"
    assert videos["neighbour"]["n_damaged"] == 2
    assert videos["anchor"]["status"] == "failed"
    assert videos["anchor"]["n_anchors"] == 0
    assert "anchor at frame 10" in str(videos["anchor"]["reason"])
    left = {(row["frame_set"], row["frame_offset"]): row for row in tables["left_out"]}
    reasons = {place: row["reason"] for place, row in left.items()}
    assert {at: reasons["neighbour/000010", at] for at in (-2, 1)} == {-2: "damaged", 1: "damaged"}
    assert left["neighbour/000010", -2]["detail"], "what is wrong with it"
    assert {at: reasons["anchor/000010", at] for at in range(-3, 4)} == {
        -3: "anchor", -2: "anchor", -1: "damaged", 0: "damaged", 1: "anchor", 2: "anchor",
        3: "anchor",
    }  # fmt: skip
    frames = [row["frame"] for row in tables["frames"]]
    assert frames == [7, 9, 10, 12, 13]
    assert len(frames) + len(left) == 2 * 7
    # Published frames keep their bytes; what they do not tell is not made up.
    sample = next(iter(read_frame_sets(root, NAME)))[0]
    assert sample.image == (tmp_path / "neighbour" / "000007.JPEG").read_bytes()
    assert sample.meta["seconds"] is sample.meta["pict_type"] is sample.meta["fps"] is None


def test_a_shard_of_damaged_anchors_is_no_shard(
    tmp_path: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "SETS_A_SHARD", 1)
    folder = write_frame_folder(tmp_path / "damaged", frames=5).path
    (folder / "000002.JPEG").write_bytes(b"\xff\xd8\xff")
    clips = {"damaged": clip_of(folder, seen_in({2: (DOG,)})), **dogs(tmp_path, "good")}
    source = MadeSource(clips)
    mined(root, source)
    manifest = read_manifest(root, NAME)
    assert len(manifest.shards) == 1
    assert [path for path in root.list(f"shards/{NAME}") if path.endswith(".tar")] == [
        f"shards/{NAME}/{manifest.shards[0].name}"
    ]
    assert mine(root, CATALOG, source, workers=1) == manifest


def test_labels_and_boxes_and_where_a_frame_has_them_from(tmp_path: Path, root: Root) -> None:
    write_clip(tmp_path / "a.mp4", frames=9, width=96, height=64)
    half = Annotation(
        (DOG, CAT), frame=4, boxes=(replace(box(CAT, 0.5), track="7"),), relative=True
    )
    other = Annotation((DOG,), frame=6, boxes=())
    sparse = clip_of(tmp_path / "a.mp4", Segment("", (half, other)))
    # Only frame 4 has a box, so it is the anchor.
    source = MadeSource({"a": sparse}, MiningConfig(k=3, min_object_size=0.3))
    for rule, labels, told in (("frame", [DOG], "annotated"), ("anchor", [DOG, CAT], "propagated")):
        tables = mined(root, replace(source, rule=rule))
        rows = {row["frame"]: row for row in tables["frames"]}
        assert rows[4]["labels"] == rows[5]["labels"] == [DOG, CAT]
        assert (rows[4]["label_source"], rows[5]["label_source"]) == ("annotated", "propagated")
        assert (rows[6]["labels"], rows[6]["label_source"]) == (labels, told)
        assert rows[6]["annotated"]
        assert rows[6]["boxes"] == []
        assert rows[5]["boxes"] is None
        (found,) = rows[4]["boxes"]  # type: ignore[misc]
        assert (found["xmax"], found["ymax"], found["track"]) == (48.0, 32.0, "7"), "in pixels"
        (frames,) = read_frame_sets(root, NAME)
        assert next(each for each in frames if not each.meta["frame_offset"]).meta["boxes"] == [
            found
        ]


def test_published_sets_are_taken_frame_by_frame(tmp_path: Path, root: Root) -> None:
    clips = dogs(tmp_path, "v1", "v2", "v3", frames=20)

    def path(video: str, frame: int) -> str:
        return f"val/{video}/{frame:06d}.JPEG"

    def frame_set(video: str, anchor: int, others: tuple[int, ...]) -> FrameSet:
        labels = {path(video, at): (CAR, DOG) if at % 2 else (DOG,) for at in (anchor, *others)}
        return FrameSet(path(video, anchor), tuple(path(video, at) for at in others), labels)

    sets = {"v1": (frame_set("v1", 8, (5, 7, 10)),), "v2": (frame_set("v2", 1, ()),)}
    source = MadeSource(clips, MiningConfig(k=3), sets=sets)
    tables = mined(root, source)
    found = {(row["clip"], row["frame"]): row["labels"] for row in tables["frames"]}
    assert found == {
        ("v1", 5): [CAR, DOG], ("v1", 7): [CAR, DOG], ("v1", 8): [DOG], ("v1", 10): [DOG],
        ("v2", 1): [CAR, DOG],
    }  # fmt: skip
    reasons = [(row["frame_set"], row["frame_offset"], row["reason"]) for row in tables["left_out"]]
    assert ("v1/000008", -2, "unlisted") in reasons
    assert ("v2/000001", -2, "boundary") in reasons
    assert len(reasons) + len(found) == 14
    assert {row["clip"]: row["status"] for row in tables["videos"]}["v3"] == "no_label"
    wide = replace(source, sets={"v1": (frame_set("v1", 8, (4,)),)})
    with pytest.raises(ShiftlakeError, match="reaches further"):
        mine(root, CATALOG, wide, workers=1)
    # A set whose anchor the video no longer has is told, and no other frame taken in its place.
    lost = replace(source, sets={"v1": (frame_set("v1", 20, (19,)),), "v2": sets["v2"]})
    tables = mined(root, lost)
    assert {row["clip"] for row in tables["frames"]} == {"v2"}
    assert {row["clip"]: row["status"] for row in tables["videos"]}["v1"] == "failed"


def test_a_video_rewritten_while_it_is_mined_is_refused(
    tmp_path: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = MadeSource(dogs(tmp_path, "a"))
    plan = layout.lay_out

    def then_rewrite(*args: object) -> object:
        write_clip(tmp_path / "a.mp4", frames=24, width=96, height=64, numbers=range(50, 74))
        return plan(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("ops.video.mining.mining.lay_out", then_rewrite)
    with pytest.raises(ShiftlakeError, match=r"changed while it was mined[\s\S]*a\.mp4"):
        mine(root, CATALOG, source, workers=1)
    assert not root.exists(f"shards/{NAME}/manifest.json")


def test_a_picture_rewritten_in_its_folder_is_noticed_as_well(tmp_path: Path) -> None:
    folder = write_frame_folder(tmp_path / "a", frames=2).path
    stamp = stamp_of(folder)
    require_same(folder, stamp, "a")
    first = folder / "000000.JPEG"
    first.write_bytes(first.read_bytes() + b"\0")
    with pytest.raises(ShiftlakeError, match="changed while it was mined"):
        require_same(folder, stamp, "a")


def test_a_table_that_was_touched_is_refused(root: Root, five: MadeSource) -> None:
    version = mine(root, CATALOG, five, workers=1).version
    path = f"video/made/mined/{version}/pairs.parquet"
    data = bytearray(root.read_bytes(path))
    data[len(data) // 2] ^= 1
    root.write_bytes(path, bytes(data))
    for asked in (None, version):
        with pytest.raises(ShiftlakeError, match="not the one that was sealed"):
            read_mined(root, "made", "pairs", asked)
    assert read_mined(root, "made", "frames", version).num_rows


def test_mined_sets_are_found_beside_the_catalog(root: Root, five: MadeSource) -> None:
    assert catalogued(root, CATALOG) is CATALOG
    manifest = mine(root, CATALOG, five, workers=1)
    catalog = catalogued(root, CATALOG)
    spec = catalog.dataset("frame_sets/made")
    assert (spec.label_space, spec.expected, spec.evaluate, spec.layout) == (
        "imagenet_vid30", manifest.n_samples, True, "mined"
    )  # fmt: skip
    assert catalog.benchmark(spec.benchmark).id == "frame-sets"
    assert set(CATALOG.datasets) < set(catalog.datasets)
    told = json.dumps(manifest.renderer)
    assert manifest.renderer is not None
    assert manifest.renderer["name"] == "mining"
    assert set(manifest.renderer["tables"]) == {"videos", "frames", "left_out", "pairs"}
    assert root.url not in told


def test_labels_rewritten_while_videos_are_mined_are_refused(
    tmp_path: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = MadeSource(dogs(tmp_path, "a"))
    plan = layout.lay_out

    def then_relabel(*args: object) -> object:
        source.clips["b"] = source.clips["a"]
        return plan(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("ops.video.mining.mining.lay_out", then_relabel)
    with pytest.raises(ShiftlakeError, match="labels changed"):
        mine(root, CATALOG, source, workers=1)
    assert not root.exists(f"shards/{NAME}/manifest.json")


def test_labels_that_changed_between_two_minings_are_read_again(tmp_path: Path) -> None:
    place = tmp_path / "videos" / "own"
    dogs(place / "videos", "a")
    told = {"kind": "folder", "videos": "videos", "labels": "labels.json",
            "label_space": "imagenet_vid30", "mining": {"k": 3}}  # fmt: skip
    (place / "source.yaml").write_text(json.dumps(told))
    root = open_root(tmp_path / "lake")
    for label in (DOG, CAT):
        (place / "labels.json").write_text(json.dumps([{"video": "a.mp4", "labels": [label]}]))
        mine(root, CATALOG, read_source(tmp_path / "videos", "own"), workers=1)
        frames = read_mined(root, "own", "frames")
        assert set(map(tuple, frames["labels"].to_pylist())) == {(label,)}


def test_pictures_that_are_missing_from_a_folder_are_a_gap(tmp_path: Path, root: Root) -> None:
    folder = write_frame_folder(tmp_path / "frames", frames=12, width=96, height=64).path
    (folder / "000006.JPEG").unlink()
    clip = clip_of(folder, seen_in({4: (DOG,)}))
    for gap, reasons in ((None, {}), (1.5, {2: "gap", 3: "gap"})):
        tables = mined(root, MadeSource({"frames": clip}, MiningConfig(k=3, max_gap=gap)))
        found = {row["frame_offset"]: row["reason"] for row in tables["left_out"]}
        assert found == reasons
