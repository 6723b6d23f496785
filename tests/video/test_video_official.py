"""The published frame sets: their sizes, their rules, and files that are something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_files import (
    PAIR_FLAGS,
    VID_FULL,
    VID_PAIRS,
    VID_SETS,
    YTBB_PAIRS,
    YTBB_SETS,
    vid_robust,
    ytbb_robust,
)

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.miniature import build
from ops.video import FrameSet, counts, read_pmsets, read_ytbb
from ops.video.published import frame_number, ytbb_robust_sets


@pytest.fixture(scope="module")
def vid(tmp_path_factory: pytest.TempPathFactory) -> tuple[FrameSet, ...]:
    return read_pmsets(*vid_robust(tmp_path_factory.mktemp("vid")))


@pytest.fixture(scope="module")
def ytbb(tmp_path_factory: pytest.TempPathFactory) -> tuple[FrameSet, ...]:
    return read_ytbb(*ytbb_robust(tmp_path_factory.mktemp("ytbb")))


def test_table_1_of_imagenet_vid_robust(vid):
    found = counts(vid)
    assert (found.sets, found.pairs, found.frames) == (1109, 21070, 22179)
    assert (found.empty, found.folders) == (1, 1109), "the empty set counts, with its anchor"
    assert found.by_labels == {1: 1030, 2: 76, 3: 3}
    assert sum(len(each.neighbours) == 20 for each in vid) == VID_FULL
    assert (VID_SETS, VID_PAIRS) == (1109, 21070)


def test_table_1_of_ytbb_robust_and_the_total_that_counts_neighbours_alone(vid, ytbb):
    found = counts(ytbb)
    assert (found.sets, found.pairs) == (2030, 36827)
    assert (YTBB_SETS, YTBB_PAIRS) == (2030, 36827)
    assert found.folders == 2030, "a folder is a moment of a video"
    assert found.pairs + counts(vid).pairs == 57897
    assert found.frames + counts(vid).frames == 61036


def test_22_in_the_table_of_anchors_is_car(ytbb):
    names = classes.video("ytbb24").names
    cars = [each for each in ytbb if names.index("car") in each.labels[each.anchor]]
    assert len(cars) == 87
    assert not any(names.index("none") in each.labels[each.anchor] for each in ytbb)


def test_neighbours_stand_in_the_order_of_presentation(vid, ytbb):
    for each in (*vid, *ytbb):
        numbers = [frame_number(path) for path in each.neighbours]
        assert numbers == sorted(numbers)
        assert frame_number(each.anchor) not in numbers
        assert all(abs(number - frame_number(each.anchor)) <= 10 for number in numbers)


def test_neighbours_of_ytbb_have_the_labels_of_their_anchor(ytbb):
    for each in ytbb:
        assert set(each.labels) == {each.anchor, *each.neighbours}
        assert len(set(each.labels.values())) == 1


def test_the_small_upstream_is_read_as_it_was_drawn(tmp_path):
    miniature = build(tmp_path, size="test", families=("video",))

    def path(benchmark: str, file: str) -> Path:
        return miniature.path(benchmark, file)

    sets = read_pmsets(
        path("imagenet-vid-robust", "vid_robust_pmsets"),
        path("imagenet-vid-robust", "vid_robust_labels"),
    )
    truth = miniature.truth["imagenet_vid_robust/clean"]
    labels = {path: list(found) for each in sets for path, found in each.labels.items()}
    assert labels == {key.partition("vid-robust/")[2]: value for key, value in truth.items()}
    sets = read_ytbb(
        path("ytbb-robust", "ytbb_anchor_labels"),
        path("ytbb-robust", "ytbb_pmk_labels"),
        path("ytbb-robust", "ytbb_anchors_csv"),
    )
    truth = miniature.truth["ytbb_robust/clean"]
    labels = {path: list(found) for each in sets for path, found in each.labels.items()}
    assert labels == {key.partition("ytbb_videos/")[2]: value for key, value in truth.items()}


ANCHOR, OTHER = "v_0/frame-10.jpg", "v_0/frame-11.jpg"


@given(st.frozensets(st.sampled_from(PAIR_FLAGS)))
def test_a_pair_is_accepted_if_similar_and_nothing_speaks_against_it(flags):
    found = ytbb_robust_sets(
        {ANCHOR: frozenset(["good"])}, {f"{ANCHOR},{OTHER}": flags}, {"v_0": 1}, "test"
    )
    against = flags - {"similar", "correct"}
    if "bad-anchor" in flags:
        assert not found, "a bad anchor takes its pairs along"
    else:
        assert [each.neighbours for each in found] == [
            (OTHER,) if "similar" in flags and not against else ()
        ]


@given(st.frozensets(st.sampled_from(["good", "bad", "unsure", "person", "zebra", "car"])))
def test_an_anchor_counts_if_good_and_neither_bad_nor_unsure(flags):
    found = ytbb_robust_sets({ANCHOR: flags}, {}, {"v_0": 1}, "test")
    if "good" in flags and not flags & {"bad", "unsure"}:
        names = classes.video("ytbb24").names
        added = {names.index(flag) for flag in flags - {"good"}}
        assert found[0].labels[ANCHOR] == tuple(sorted(added | {1}))
    else:
        assert not found


def vid_files(folder: Path, pmsets: object, labels: object) -> tuple[Path, Path]:
    for name, content in (("pmsets.json", pmsets), ("labels.json", labels)):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    return folder / "pmsets.json", folder / "labels.json"


A, B = "val/s/000003.JPEG", "val/s/000004.JPEG"


@pytest.mark.parametrize(
    ("pmsets", "labels", "expected"),
    [
        ([A], {A: [1]}, "pmsets.json: a JSON object"),
        ({A: B}, {A: [1]}, "pmsets.json: a list of paths"),
        ({A: [1]}, {A: [1]}, "pmsets.json: a list of paths"),
        ({"frame": []}, {"frame": [1]}, "<folder>/<frame>"),
        ({A: [B]}, {A: [1]}, "labels of every frame"),
        ({A: []}, {A: [30]}, "0 to 29"),
        ({A: []}, {A: [True]}, "0 to 29"),
        ({A: []}, {A: 1}, "0 to 29"),
        ({A: []}, {A: ["1"]}, "0 to 29"),
        ({A: [A]}, {A: [1]}, "each frame in one set"),
        ({A: [B, B]}, {A: [1], B: [1]}, "each frame in one set"),
        ({A: [], "x/" + A: []}, {A: [1], "x/" + A: [1]}, "each frame in one set"),
        ({A: [B], "val/t/000001.JPEG": [B]}, {A: [1], B: [1], "val/t/000001.JPEG": [1]}, "one set"),
        ("{", {A: [1]}, "JSON"),
        ("[" * 100_000, {A: [1]}, "JSON"),
    ],
)
def test_files_of_another_shape_are_told(tmp_path, pmsets, labels, expected):
    with pytest.raises(ShiftlakeError) as caught:
        read_pmsets(*vid_files(tmp_path, pmsets, labels))
    assert expected in str(caught.value.expected)


def ytbb_files(folder: Path, anchors: object, pairs: object, table: str) -> tuple[Path, Path, Path]:
    paths = folder / "anchor_labels.json", folder / "pmk_labels.json", folder / "anchors.csv"
    paths[0].write_text(json.dumps(anchors))
    paths[1].write_text(json.dumps(pairs))
    paths[2].write_text(table)
    return paths


def store(*annotations: object, labels: object = ("good", "similar")) -> dict[str, object]:
    return {"labels": labels, "annotations": list(annotations)}


GOOD = {"key": ANCHOR, "labels": [0], "notes": ""}


@pytest.mark.parametrize(
    ("anchors", "pairs", "table", "expected"),
    [
        ([], store(), "v,0,1\n", "anchor_labels.json: a JSON object"),
        ({"labels": ["good"]}, store(), "v,0,1\n", "a list under annotations"),
        ({"labels": "good", "annotations": []}, store(), "v,0,1\n", "a list of names"),
        (store({"key": ANCHOR, "labels": [2]}), store(), "v,0,1\n", "positions among the 2"),
        (store({"key": ANCHOR, "labels": [-1]}), store(), "v,0,1\n", "positions among the 2"),
        (store({"labels": [0]}), store(), "v,0,1\n", "annotation 1: a key"),
        (store("x"), store(), "v,0,1\n", "annotation 1: a key"),
        (store(GOOD), store(GOOD, 7), "v,0,1\n", "pmk_labels.json, annotation 2"),
        (store(GOOD), store(), "w,0,1\n", "a row for every anchor"),
        (store(GOOD), store(), "v,0,24\n", "line 1: a class, 0 to 23"),
        (store(GOOD), store(), "v,0,cat\n", "line 1: a class, 0 to 23"),
        (store(GOOD), store(), "", "rows of a YouTube id"),
        (store(GOOD), store(), "v" * 200_000 + ",0,1\n", "the table of anchors: CSV"),
    ],
)
def test_label_stores_of_another_shape_are_told(tmp_path, anchors, pairs, table, expected):
    with pytest.raises(ShiftlakeError) as caught:
        read_ytbb(*ytbb_files(tmp_path, anchors, pairs, table))
    assert expected in str(caught.value.expected)


def test_the_last_entry_of_a_key_wins_wherever_its_annotator_had_the_file(tmp_path):
    home = {"key": f"/home/someone/{ANCHOR}", "labels": [], "notes": "taken back"}
    assert len(read_ytbb(*ytbb_files(tmp_path, store(home, GOOD), store(), "v,0,1\n"))) == 1
    assert not read_ytbb(*ytbb_files(tmp_path, store(GOOD, home), store(), "v,0,1\n"))


def test_a_file_that_is_not_there_or_is_no_text(tmp_path):
    pmsets, labels = vid_files(tmp_path, {}, {})
    with pytest.raises(ShiftlakeError, match="No such file"):
        read_pmsets(tmp_path / "gone.json", labels)
    pmsets.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ShiftlakeError, match="UTF-8"):
        read_pmsets(pmsets, labels)
    with pmsets.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ShiftlakeError, match="at most 268,435,456 bytes"):
        read_pmsets(pmsets, labels)
