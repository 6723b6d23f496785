"""Frame sets of the video benchmarks, against their annotation files read here anew."""

from __future__ import annotations

import csv
import json
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest
from shard_parts import Made, samples_of, shard_files

from ops.catalog import classes
from ops.miniature import MiniatureUpstream
from ops.shards import Sample, ShardSize, build

VID, YTBB = "imagenet_vid_robust/clean", "ytbb_robust/clean"
NEGATIVE = {
    *("problematic", "incorrect", "dont know", "dissimilar", "deformation", "bad-anchor"),
    *("background-change", "occlusion-increased", "blur-increase"),
}


@pytest.fixture(scope="module")
def vid(lake: Made) -> list[Sample]:
    return samples_of(lake.root, VID)


@pytest.fixture(scope="module")
def ytbb(lake: Made) -> dict[str, Sample]:
    return {each.key: each for each in samples_of(lake.root, YTBB)}


def side(upstream: MiniatureUpstream, file: str) -> dict[str, list[str]]:
    path = upstream.path("imagenet-vid-robust", file)
    loaded: dict[str, list[str]] = json.loads(path.read_text())
    return loaded


def test_vid_sets_labels_and_offsets(vid: list[Sample], upstream: MiniatureUpstream) -> None:
    sets, labels = side(upstream, "vid_robust_pmsets"), side(upstream, "vid_robust_labels")
    assert all(path.startswith("val/") for path in labels), "the archive has more above that"
    found = {each.meta["source_file"].partition("vid-robust/")[2]: each for each in vid}
    assert len(found) == sum(1 + len(others) for others in sets.values())
    for anchor, others in sets.items():
        key = anchor.removeprefix("val/").removesuffix(".JPEG")
        assert found[anchor].key == found[anchor].meta["frame_set"] == key
        for path in (anchor, *others):
            meta = found[path].meta
            assert meta["frame_set"] == key
            assert meta["frame_offset"] == int(path[-11:-5]) - int(anchor[-11:-5])
            assert meta["labels"] == labels[path]
            assert meta["source_key"] == anchor.split("/")[1]


def test_an_anchor_without_neighbours_stays(vid: list[Sample]) -> None:
    alone = [each for each in vid if each.meta["source_key"] == "ILSVRC2015_val_00057000"]
    assert [each.meta["frame_offset"] for each in alone] == [0]


def test_frames_of_two_classes_have_both(vid: list[Sample]) -> None:
    assert {len(each.meta["labels"]) for each in vid} == {1, 2}
    assert all(each.cls is None for each in vid), "one class index would hide the second"


def test_sets_never_lie_in_two_shards(fresh: Made) -> None:
    build(fresh.root, fresh.catalog, VID, size=ShardSize(samples=5))
    shards = shard_files(fresh.root, VID)
    assert len(shards) > 3
    seen: dict[str, set[str]] = defaultdict(set)
    for shard in shards:
        with tarfile.open(shard) as archive:
            for name in archive.getnames():
                seen[name.rpartition("/")[0]].add(shard.name)
    assert all(len(names) == 1 for names in seen.values())


def accepted(upstream: MiniatureUpstream) -> dict[str, list[int]]:
    """Frame -> labels by the published rules, written down here a second time."""

    def path(name: str) -> str:
        return "/".join(name.split("/")[-2:])

    def last(file: str) -> dict[tuple[str, ...], list[str]]:
        store = json.loads(upstream.path("ytbb-robust", file).read_text())
        return {
            tuple(path(part) for part in entry["key"].split(",")): [
                store["labels"][index] for index in entry["labels"]
            ]
            for entry in store["annotations"]
        }

    names = list(classes.video("ytbb24").names)
    table: Path = upstream.path("ytbb-robust", "ytbb_anchors_csv")
    initial = {}
    with table.open(newline="") as file:
        for video, time, number in list(csv.reader(file))[1:]:
            initial[f"{video}_{time}"] = {"22": 23, "23": 22}.get(number, int(number))
    anchors, pairs = last("ytbb_anchor_labels"), last("ytbb_pmk_labels")
    frames: dict[str, list[int]] = {}
    for (anchor,), words in anchors.items():
        mine = {other: said for (first, other), said in pairs.items() if first == anchor}
        if "good" not in words or "bad" in words or "unsure" in words:
            continue
        if any("bad-anchor" in said for said in mine.values()):
            continue
        labels = {initial[anchor.split("/")[0]], *(names.index(w) for w in words if w in names)}
        similar = [o for o, said in mine.items() if "similar" in said and not NEGATIVE & set(said)]
        for frame in (anchor, *similar):
            frames[frame.removesuffix(".jpg")] = sorted(labels)
    return frames


def test_ytbb_rules(ytbb: dict[str, Sample], upstream: MiniatureUpstream) -> None:
    expected = accepted(upstream)
    assert {key: each.meta["labels"] for key, each in ytbb.items()} == expected


def folder(ytbb: dict[str, Sample], video: str) -> list[Sample]:
    return [each for key, each in ytbb.items() if key.startswith(video)]


def test_ytbb_car_and_none_are_swapped_in_the_csv(ytbb: dict[str, Sample]) -> None:
    names = classes.video("ytbb24").names
    (car,) = {tuple(each.meta["labels"]) for each in folder(ytbb, "mini_car-001")}
    (none,) = {tuple(each.meta["labels"]) for each in folder(ytbb, "mini_none001")}
    assert ([names[index] for index in car], car, none) == (["car"], (23,), (22,))


def test_ytbb_last_annotation_wins(ytbb: dict[str, Sample]) -> None:
    assert not folder(ytbb, "mini_gtb_001"), "good, then bad"
    assert folder(ytbb, "mini_btg_001"), "bad, then good"


@pytest.mark.parametrize("video", ["mini_bad", "mini_uns", "mini_nil", "mini_csv", "mini_pmk"])
def test_ytbb_refused_anchors_take_their_neighbours_along(
    ytbb: dict[str, Sample], video: str
) -> None:
    assert not folder(ytbb, video)


def test_ytbb_offsets_count_frames(ytbb: dict[str, Sample]) -> None:
    anchors = {each.meta["frame_set"] for each in ytbb.values()}
    for key, sample in ytbb.items():
        offset = int(key.rpartition("-")[2]) - int(sample.meta["frame_set"].rpartition("-")[2])
        assert sample.meta["frame_offset"] == offset
        assert abs(offset) <= 10
    assert anchors <= set(ytbb)
    two = {each.meta["frame_set"] for each in folder(ytbb, "mini_two_001")}
    assert len(two) == 2, "two anchors of one video are two sets"
