"""The known traps of the published files are there, and the truth is independent of them."""

from __future__ import annotations

import io
import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError
from published_archives import Open

from ops.catalog import classes as catalog_classes
from ops.miniature import MiniatureUpstream
from ops.miniature.classes import CHOSEN, members, wnid
from ops.miniature.ytbb_robust import CAR, COW, NONE, PAIR_LABELS


def picture(raw: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(raw))
    image.load()
    return image


def test_chosen_classes_meet_the_masks_in_every_combination() -> None:
    a, o, r = (set(members(f"imagenet_{letter}")) for letter in "aor")
    for only in (a - o - r, o - a - r, r - a - o, a & r - o, a & o - r, r & o - a, a & o & r):
        assert only
    assert set(CHOSEN) - a - o - r
    text = sorted(map(str, CHOSEN))
    assert text != [str(index) for index in CHOSEN]
    assert 10 in CHOSEN


def test_val_labels_are_the_published_ones(miniature: MiniatureUpstream) -> None:
    published = catalog_classes.val_labels()
    truth = miniature.truth["imagenet_1k/val"]
    assert {label for (label,) in truth.values()} == set(CHOSEN)
    for name, (label,) in truth.items():
        assert published[int(name[15:23]) - 1] == label


def test_truth_and_archive_name_the_same_val_images(
    miniature: MiniatureUpstream, opened: Open
) -> None:
    names = list(opened("imagenet-1k", "ilsvrc2012_val"))
    assert set(names) == set(miniature.truth["imagenet_1k/val"])
    assert names != sorted(names)


def test_val_images_of_every_odd_format(opened: Open) -> None:
    images = [picture(raw) for raw in opened("imagenet-1k", "ilsvrc2012_val").values()]
    kinds = {(image.format, image.mode) for image in images}
    assert kinds == {("JPEG", "RGB"), ("JPEG", "CMYK"), ("JPEG", "L"), ("PNG", "P")}
    assert [image.getexif().get(0x0112) for image in images].count(6) == 1


def test_v2_folder_ten_is_class_ten(miniature: MiniatureUpstream) -> None:
    for path, labels in miniature.truth["imagenetv2/top_images"].items():
        assert labels == [int(path.split("/")[1])]
    assert any("/10/" in path for path in miniature.truth["imagenetv2/top_images"])


def test_folder_sets_are_labelled_by_wnid(miniature: MiniatureUpstream) -> None:
    for dataset in ("imagenet_a/clean", "imagenet_r/clean", "imagenet_sketch/clean"):
        for path, labels in miniature.truth[dataset].items():
            assert [wnid(label) for label in labels] == [path.split("/")[1]]
    assert {len(labels) for labels in miniature.truth["imagenet_o/clean"].values()} == {0}


def test_sketch_has_an_uneven_class_and_a_black_picture(opened: Open) -> None:
    files = opened("imagenet-sketch", "imagenet_sketch_zip")
    counts = Counter(name.split("/")[1] for name in files)
    assert sorted(counts.values())[-2:] == [min(counts.values()), min(counts.values()) + 1]
    assert [np.asarray(picture(raw)).max() == 0 for raw in files.values()].count(True) == 1


def test_r_file_names_repeat_across_folders(opened: Open) -> None:
    names = [n.rpartition("/")[2] for n in opened("imagenet-r", "imagenet_r_tar")]
    assert len(set(names)) < len(names)


def test_real_lists_are_offset_by_one_and_partly_empty(miniature: MiniatureUpstream) -> None:
    lists = json.loads(miniature.path("imagenet-real", "imagenet_real_json").read_text())
    assert len(lists) == 50000
    ours = {n: lists[int(n[15:23]) - 1] for n in miniature.truth["imagenet_1k/val"]}
    assert ours == miniature.truth["imagenet_real/clean"]
    assert {len(labels) for labels in ours.values()} == {0, 1, 2}


def test_sun_formats_and_the_picture_that_does_not_decode(opened: Open) -> None:
    files = {n: raw for n, raw in opened("sun-397", "sun397_tar").items() if n.endswith(".jpg")}
    bad = files.pop("SUN397/c/church/outdoor/sun_bhenjvsvrtumjuri.jpg")
    with pytest.raises((OSError, UnidentifiedImageError)):
        picture(bad)
    assert bad.startswith(b"\xff\xd8")
    kinds = {(picture(raw).format, picture(raw).mode) for raw in files.values()}
    assert {"BMP", "PNG", "GIF", "JPEG"} == {kind for kind, _ in kinds}
    assert ("PNG", "RGBA") in kinds
    assert any(mode.startswith("I") for _, mode in kinds)


def test_caltech_strays_are_in_the_archive_and_not_in_the_truth(
    miniature: MiniatureUpstream, opened: Open
) -> None:
    extra = set(opened("caltech-256", "caltech_256_tar")) - set(
        miniature.truth["caltech_256/clean"]
    )
    assert "256_ObjectCategories/198.spider/RENAME2" in extra
    assert any(name.startswith("256_ObjectCategories/056.dog/greg/") for name in extra)
    assert len(extra) == 2
    inner = opened("caltech-101", "caltech_101_inner_images")
    assert any("BACKGROUND_Google" in name for name in inner)
    assert not any("BACKGROUND_Google" in n for n in miniature.truth["caltech_101/clean"])
    assert "L" in {picture(raw).mode for raw in inner.values()}


def test_vid_robust_metadata(miniature: MiniatureUpstream, opened: Open) -> None:
    files = opened("imagenet-vid-robust", "imagenet_vid_ytbb_robust_tar")
    top = "imagenet_vid_ytbb_robust/imagenet-vid-robust"
    labels = json.loads(files[f"{top}/metadata/labels.json"])
    sets = json.loads(files[f"{top}/metadata/pmsets.json"])
    assert all(f"{top}/{key}" in files for key in labels)
    assert set(labels) == set(sets) | {n for found in sets.values() for n in found}
    assert sets["val/ILSVRC2015_val_00057000/000044.JPEG"] == []
    assert {len(found) for found in labels.values()} == {1, 2}
    differing = [
        (anchor, n) for anchor, ns in sets.items() for n in ns if labels[n] != labels[anchor]
    ]
    assert differing
    assert all(set(labels[a]) & set(labels[n]) for a, n in differing)
    assert any(10 < len(ns) < 20 for ns in sets.values())
    assert {key.split("_")[0] for key in labels} == {"val/ILSVRC2015", "val/ILSVRC2017"}
    truth = miniature.truth["imagenet_vid_robust/clean"]
    assert truth == {f"{top}/{key}": found for key, found in labels.items()}


def test_ytbb_reviews_hold_every_rule(miniature: MiniatureUpstream, opened: Open) -> None:
    store = json.loads(miniature.path("ytbb-robust", "ytbb_anchor_labels").read_text())
    keys = [each["key"] for each in store["annotations"]]
    assert {key.startswith("/home/ubuntu/") for key in keys} == {True, False}
    short = ["/".join(key.split("/")[-2:]) for key in keys]
    assert len(set(short)) < len(short)
    csv = miniature.path("ytbb-robust", "ytbb_anchors_csv").read_bytes()
    assert csv.startswith(b"ytid,time_ms,label\r\n")
    assert csv.count(b"\n") == csv.count(b"\r\n")

    pairs = json.loads(miniature.path("ytbb-robust", "ytbb_pmk_labels").read_text())
    used = {PAIR_LABELS[n] for each in pairs["annotations"] for n in each["labels"]}
    assert used >= {"similar", "dissimilar", "blur-increase", "dont know", "bad-anchor"}

    truth = miniature.truth["ytbb_robust/clean"]
    by_video = {path.split("/")[3].rpartition("_")[0]: found for path, found in truth.items()}
    assert by_video["mini_car-001"] == [CAR]
    assert b"mini_car-001,2067,22\r\n" in csv
    assert by_video["mini_none001"] == [NONE]
    assert b"mini_none001,4200,23\r\n" in csv
    assert by_video["mini_cow_001"] == [COW]
    assert "mini_btg_001" in by_video  # First bad, then good.
    dropped = {f"mini_{each}_001" for each in ("bad", "uns", "nil", "csv", "gtb", "pmk")}
    assert not dropped & set(by_video)
    frames = opened("imagenet-vid-robust", "imagenet_vid_ytbb_robust_tar")
    assert set(truth) < set(frames)


def test_corrupted_images_come_from_val(miniature: MiniatureUpstream) -> None:
    val = miniature.truth["imagenet_1k/val"]
    for dataset in ("imagenet_c/fog/3", "imagenet_p/rotate", "mini_imagenet_c/snow/5"):
        for path, labels in miniature.truth[dataset].items():
            assert val[path.rpartition("/")[2].rpartition(".")[0] + ".JPEG"] == labels


def test_distortions_grow_with_severity(opened: Open) -> None:
    files = opened("imagenet-c", "imagenet_c_noise")
    first, last = (
        np.stack([np.asarray(picture(files[n]), float) for n in sorted(files) if n.startswith(p)])
        for p in ("gaussian_noise/1/", "gaussian_noise/5/")
    )
    roughness = [np.abs(np.diff(each, axis=2)).mean() for each in (first, last)]
    assert roughness[1] > 1.5 * roughness[0]
