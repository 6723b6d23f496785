"""Boxes by way of files in COCO's format: what is written, what is read, and what is refused."""

import contextlib
import gzip
import io
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_frame_sets import seal_frame_sets

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.inference.detections import (
    coco_rows,
    import_results,
    list_detections,
    read_boxes,
    read_frames,
    write_ground_truth,
)
from ops.inference.detections.categories import categories_of
from ops.inference.detections.coco_rows import rows_of
from ops.storage import open_root


@pytest.fixture
def made(tmp_path):
    root = open_root(tmp_path / "lake")
    manifest = seal_frame_sets(root, unannotated=(3,))
    with (tmp_path / "truth.json").open("wb") as file:
        counts = write_ground_truth(root, "made", file)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert counts == (len(truth["images"]), len(truth["annotations"]))
    return root, manifest, truth, tmp_path


def perfect(truth):
    names = ("image_id", "category_id", "bbox")
    return [{**{n: each[n] for n in names}, "score": 0.9} for each in truth["annotations"]]


def stored(made, rows, **options):
    root, _, _, folder = made
    path = folder / "results.json"
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return import_results(root, "found", "frame_sets/made", path, **options)


def test_the_ground_truth_is_a_file_pycocotools_reads(made):
    from pycocotools.coco import COCO

    _, manifest, truth, folder = made
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(folder / "truth.json"))
    keys = [image["file_name"] for image in coco.dataset["images"]]
    assert keys == sorted(keys)
    assert len(keys) == manifest.n_samples
    assert [each["name"] for each in truth["categories"]] == list(
        classes.video("imagenet_vid30").names
    )
    # An id of 0 would be no match to pycocotools, and no object to many detectors.
    assert min(coco.cats) == min(coco.imgs) == min(coco.anns) == 1
    assert [image["annotated"] for image in truth["images"]].count(False) == 1
    assert truth["info"]["dataset_version"] == manifest.version


def test_what_is_exported_and_read_again_is_stored_as_it_was(made):
    root, manifest, truth, _ = made
    record = stored(made, perfect(truth))
    assert (record.origin, record.dataset_version) == ("imported", manifest.version)
    boxes = read_boxes(root, record).to_pylist()
    assert len(boxes) == record.n_detections == len(truth["annotations"])
    key_of = {image["id"]: image["file_name"] for image in truth["images"]}
    for box, each in zip(boxes, truth["annotations"], strict=True):
        x, y, width, height = each["bbox"]
        assert box["sample_key"] == key_of[each["image_id"]]
        assert box["label"] == each["category_id"] - 1
        assert [box[s] for s in ("xmin", "ymin", "xmax", "ymax")] == [x, y, x + width, y + height]
    frames = read_frames(root, record)
    assert frames.num_rows == record.n_expected == record.n_seen == manifest.n_samples
    assert sum(frames["n_boxes"].to_pylist()) == record.n_detections


def test_the_same_file_twice_is_the_same_detections(made):
    root, _, truth, _ = made
    first, second = stored(made, perfect(truth)), stored(made, perfect(truth))
    assert (first.key, first.files) == (second.key, second.files)
    assert [each.key for each in list_detections(root)] == [first.key]
    other = stored(made, perfect(truth)[1:])
    assert other.key != first.key


def test_no_box_at_all_is_a_result(made):
    record = stored(made, [])
    assert (record.n_detections, record.n_seen) == (0, record.n_expected)


def test_other_numbers_are_known_by_name(made):
    root, _, truth, folder = made
    own = {
        "images": [
            {"id": 1000 - image["id"], "file_name": f"{image['file_name']}.jpg"}
            for image in truth["images"]
        ],
        "categories": [{"id": 7, "name": "antelope"}, {"id": 8, "name": "n02691156"}],
    }
    (folder / "own.json").write_text(json.dumps(own))
    rows = [
        {"image_id": 999, "category_id": 7, "bbox": [1, 2, 3, 4], "score": 1},
        {
            "image_id": 998.0,
            "category_id": 8,
            "bbox": [1, 2, 3, 4],
            "score": 0.5,
            "segmentation": {},
        },
    ]
    record = stored(made, rows, ground_truth=folder / "own.json")
    boxes = read_boxes(root, record)
    assert boxes["label"].to_pylist() == [1, 0]
    assert boxes["sample_key"].to_pylist() == [i["file_name"] for i in truth["images"][:2]]
    assert "zebra" in record.missing_labels


def test_categories_of_coco_are_mapped_and_the_others_counted(made):
    root = made[0]
    rows = [
        # A dog, a person, which is no class of ImageNet-Vid, and a cow.
        {"image_id": 1, "category_id": number, "bbox": [1, 2, 3, 4], "score": 0.5}
        for number in (18, 1, 21)
    ]
    record = stored(made, rows, categories="coco91")
    names = classes.video("imagenet_vid30").names
    labels = read_boxes(root, record)["label"].to_pylist()
    assert [names[label] for label in labels] == ["dog", "cattle"]
    assert record.n_unmapped == 1
    assert "hamster" in record.missing_labels
    assert len(record.missing_labels) == 14


def test_every_class_of_youtube_bb_but_none_is_one_of_coco():
    found = categories_of("coco91", "ytbb24")
    assert found.missing == ("none",)
    assert sorted(label for label in found.labels.values() if label is not None) == [
        label for label in range(24) if label != 22
    ]
    # Torchvision's detectors have an output for 12, 26 and others too, which COCO never gave.
    assert sorted(found.labels) == list(range(1, 91))
    assert found.labels[12] is None


GOOD = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"score": float("nan")}, "score nan"),
        ({"score": 1.5}, "score 1.5"),
        ({"score": -0.1}, "score -0.1"),
        ({"score": "0.9"}, "'0.9'"),
        ({"score": True}, "True"),
        ({"score": None}, "None"),
        ({"bbox": [1, 2, float("inf"), 4]}, "bbox"),
        ({"bbox": [1, float("nan"), 3, 4]}, "bbox"),
        ({"bbox": [1, 2, -3, 4]}, "no negative size"),
        ({"bbox": [1, 2, 3]}, "a list of 4 numbers"),
        ({"bbox": [1, 2, 3, "4"]}, "a list of 4 numbers"),
        ({"bbox": [1, 2, 1e12, 4]}, "within 1e+07 pixels"),
        ({"bbox": 7}, "a list of 4 numbers"),
        ({"bbox": [10**400, 2, 3, 4]}, "a finite number as 'bbox'"),
        ({"score": 10**400}, "a finite number as 'score'"),
        ({"image_id": 10**30}, "a whole number as 'image_id'"),
        ({"image_id": 1.5}, "a whole number"),
        ({"image_id": "1"}, "a number as 'image_id'"),
        ({"image_id": 999}, "unknown image_id"),
        ({"image_id": -1}, "unknown image_id"),
        ({"category_id": 31}, "unknown category_id"),
        ({"category_id": 0}, "unknown category_id"),
    ],
)
def test_a_row_that_is_wrong_is_named_and_nothing_is_stored(made, row, told):
    root = made[0]
    with pytest.raises(ShiftlakeError) as raised:
        stored(made, [GOOD, GOOD, {**GOOD, **row}, GOOD])
    assert told in str(raised.value)
    assert "row 2 (from 0)" in str(raised.value)
    assert not list_detections(root)
    assert not [path for path in root.list("detections") if path.endswith(".parquet")]


def test_corners_for_sizes_are_counted_where_they_leave_the_frame(made):
    _, _, truth, _ = made
    rows = perfect(truth)
    assert stored(made, rows).n_outside == 0
    image = truth["images"][rows[0]["image_id"] - 1]
    # A box in the far half of the picture, written as two corners.
    near = [0.6 * image["width"], 0.6 * image["height"]]
    corners = [*near, 0.9 * image["width"], 0.9 * image["height"]]
    assert stored(made, [{**rows[0], "bbox": corners}, *rows[1:]]).n_outside == 1
    # A tenth beyond the edge is what a detector does that does not clip.
    edge = [*near, 0.45 * image["width"], 0.4 * image["height"]]
    assert stored(made, [{**rows[0], "bbox": edge}, *rows[1:]]).n_outside == 0


def test_boxes_as_fractions_of_the_picture_are_refused(made):
    root, _, truth, _ = made
    rows = [{**row, "bbox": [0.1, 0.2, 0.8, 0.7]} for row in perfect(truth)]
    with pytest.raises(ShiftlakeError, match="fractions of the picture"):
        stored(made, rows)
    assert list_detections(root) == []


@pytest.mark.parametrize("name", ["image_id", "category_id"])
def test_ids_that_begin_at_0_are_told_from_others(made, name):
    row = perfect(made[2])[0]
    for found, hint in ((0, True), (10_000, False)):
        with pytest.raises(ShiftlakeError, match=f"unknown {name}") as refused:
            stored(made, [{**row, name: found}])
        assert ("counted from 0: add 1" in str(refused.value)) == hint


def test_a_packed_file_is_said_to_be_one(made):
    root, _, truth, folder = made
    path = folder / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps(perfect(truth)).encode()))
    with pytest.raises(ShiftlakeError, match="gunzip"):
        import_results(root, "found", "made", path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nothing"),
        ("{}", "a JSON list"),
        ("\x00\x01\x02", "a JSON list"),
        ("[", "a whole JSON list"),
        (json.dumps([GOOD])[:-1], "a whole JSON list"),
        (json.dumps([GOOD] * 3)[:60], "a whole JSON list"),
        (json.dumps([GOOD]) + "[]", "Extra data"),
        ("[[]]", "an object with 'image_id'"),
        ('["row"]', "an object with 'image_id'"),
        (json.dumps([{"image_id": 1}]), "an object with 'category_id'"),
        ("[" * 200_000, "JSON"),
        ('[{"a":' * 100_000, "JSON"),
        (" " * 50 + "7", "a JSON list"),
        ('[{"image_id": 1, "score": 1' + "0" * 9000 + "}]", "JSON"),
    ],
)
def test_a_file_that_is_no_list_of_results_is_refused(made, text, told):
    with pytest.raises(ShiftlakeError) as raised:
        stored(made, text)
    assert told in str(raised.value)
    assert "results.json" in str(raised.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"images": None}, "a list of objects under 'images'"),
        ({"images": [{"id": 1, "file_name": "elsewhere"}]}, "file_name 'elsewhere'"),
        ({"images": [{"id": "x", "file_name": "clip00/000030/000030"}]}, "a whole number"),
        (
            {"images": [{"id": 1, "file_name": f"clip00/000030/0000{n}"} for n in (30, 31)]},
            "two images with the id 1",
        ),
        (
            {"images": [{"id": 1, "file_name": "clip00/000030/000030", "width": 48, "height": 32}]},
            "48 x 32",
        ),
        ({"categories": [{"id": 1, "name": "unicorn"}]}, "'unicorn'"),
        ({"categories": [{"id": 1, "name": n} for n in ("dog", "bear")]}, "two categories"),
    ],
)
def test_a_ground_truth_of_other_frames_or_classes_is_refused(made, change, told):
    _, _, truth, folder = made
    (folder / "other.json").write_text(json.dumps({**truth, **change}))
    with pytest.raises(ShiftlakeError) as raised:
        stored(made, [GOOD], ground_truth=folder / "other.json")
    assert told in str(raised.value)


def test_a_path_that_is_no_file_and_a_name_that_is_no_name_are_refused(made):
    root, _, _, folder = made
    with pytest.raises(ShiftlakeError, match="not there"):
        import_results(root, "m", "made", folder / "nothing.json")
    (folder / "results.json").write_text("[]")
    with pytest.raises(ShiftlakeError, match="cannot have this name"):
        import_results(root, "../m", "made", folder / "results.json")
    with pytest.raises(ShiftlakeError, match="mined frame sets alone"):
        import_results(root, "m", "imagenet_1k/val", folder / "results.json")


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
_rows = st.lists(st.dictionaries(st.text(max_size=6), _values, max_size=4), max_size=12)


@settings(max_examples=60, deadline=None)
@given(_rows, st.integers(1, 60), st.sampled_from([None, 0, 1]))
def test_rows_read_in_parts_are_the_rows_of_the_file(rows, part, indent):
    before = coco_rows._PART
    coco_rows._PART = part
    try:
        file = io.BytesIO(b"  \n" + json.dumps(rows, indent=indent).encode() + b"\n")
        assert [row for found in rows_of(file, "file") for row in found] == rows
    finally:
        coco_rows._PART = before


def test_a_large_file_is_read_in_bounded_memory(made, monkeypatch):
    root, _, _, folder = made
    count = 60_000
    (folder / "large.json").write_text("[" + ", ".join([json.dumps(GOOD)] * count) + "]")
    monkeypatch.setattr(coco_rows, "_PART", 1 << 16)
    tracemalloc.start()
    try:
        record = import_results(root, "large", "made", folder / "large.json")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert record.n_detections == count
    # As Python objects the rows take more than 50 MB.
    assert peak < 15_000_000


def test_a_box_keeps_every_bit_of_its_score(made):
    root = made[0]
    scores = [0.1, np.nextafter(0.1, 1), 1e-300]
    record = stored(made, [{**GOOD, "score": score} for score in scores])
    assert read_boxes(root, record)["score"].to_pylist() == scores


def test_what_is_not_sealed_does_not_exist_and_a_damaged_seal_is_refused(made):
    root, _, truth, _ = made
    record = stored(made, perfect(truth))
    seal = f"{record.folder()}/run.json"
    text = root.read_bytes(seal)
    root.remove(seal)
    assert list_detections(root) == []
    root.write_bytes(f"detections/copied/frame_sets/made/{record.key}/run.json", text)
    with pytest.raises(ShiftlakeError, match="cannot be read"):
        list_detections(root)


def test_on_s3_as_on_a_disk(made, s3_root):
    _, manifest, truth, folder = made
    seal_frame_sets(s3_root, unannotated=(3,))
    record = stored(made, perfect(truth))
    remote = import_results(s3_root, "found", "made", folder / "results.json")
    assert (remote.key, remote.files) == (record.key, record.files)
    assert remote.dataset_version == manifest.version
    assert read_boxes(s3_root, remote).num_rows == record.n_detections
    assert [each.key for each in list_detections(s3_root)] == [record.key]
