"""Labels are those of the published files, as an independent table has them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from scipy.io import loadmat
from shard_parts import Made, cut_out, made_of, samples_of, tar_of

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.miniature import MiniatureUpstream
from ops.shards import build, histogram_hash, read_manifest

JPEG = b"\xff\xd8\xff\xe0 drawn"
A_CLASS, OUTSIDE_A = "n01498041", "n01440764"


def test_every_dataset_that_is_cut_out_of_archives_is_sealed(lake: Made) -> None:
    names = cut_out(lake.catalog)
    assert len(names) > 130
    for spec in map(lake.catalog.dataset, names):
        manifest = read_manifest(lake.root, spec.name)
        assert (manifest.n_samples, manifest.synthetic) == (spec.expected, True)
        assert manifest.label_space == spec.label_space


def test_labels_are_those_of_the_independent_table(lake: Made, upstream: MiniatureUpstream) -> None:
    compared = 0
    for name, table in upstream.truth.items():
        if name == "imagenet_real/clean":
            continue
        truth = {_plain(file): labels for file, labels in table.items()}
        found = {_plain(each.meta["source_file"]): each for each in samples_of(lake.root, name)}
        assert set(found) == set(truth), name
        for file, labels in truth.items():
            assert sorted(found[file].meta["labels"]) == sorted(labels), (name, file)
            frame = "frame_set" in found[file].meta
            single = labels[0] if len(labels) == 1 and not frame else None
            assert found[file].cls == single, (name, file)
        histogram = Counter(label for labels in truth.values() for label in labels)
        manifest = read_manifest(lake.root, name)
        assert manifest.label_histogram_sha256 == histogram_hash(histogram)
        assert manifest.n_classes == len(histogram)
        compared += len(truth)
    assert compared > 1000


def _plain(file: str) -> str:
    """Path of a picture inside its innermost archive, numbers of records without zeros."""
    name, sign, number = file.partition("#")
    name = name.rpartition(".tar.gz/")[2]
    return f"{name}#{int(number)}" if sign else name


def test_real_lists_are_counted_from_zero(lake: Made, upstream: MiniatureUpstream) -> None:
    samples = {each.key: each for each in samples_of(lake.root, "imagenet_real/clean")}
    lists = json.loads(upstream.path("imagenet-real", "imagenet_real_json").read_text())
    assert len(samples) == len(lists) == 50_000
    assert samples["ILSVRC2012_val_00000001"].meta["labels"] == lists[0]
    assert samples["ILSVRC2012_val_00000001"].meta["source_file"] == "real.json#0"
    assert samples["ILSVRC2012_val_00050000"].meta["labels"] == lists[-1]
    truth = upstream.truth["imagenet_real/clean"]
    for file, labels in truth.items():
        assert samples[file.removesuffix(".JPEG")].meta["labels"] == labels
    assert any(not labels for labels in truth.values()), "an empty list stays a sample"
    assert any(len(labels) > 1 for labels in truth.values())
    assert all(each.image is None and each.cls is None for each in samples.values())
    assert read_manifest(lake.root, "imagenet_real/clean").joined_to == "imagenet_1k/val"


def test_val_labels_agree_with_the_devkit(lake: Made, upstream: MiniatureUpstream) -> None:
    with tarfile.open(upstream.path("imagenet-1k", "ilsvrc2012_devkit_t12")) as devkit:
        files = {Path(each.name).name: each for each in devkit.getmembers() if each.isfile()}
        meta = loadmat(io.BytesIO(devkit.extractfile(files["meta.mat"]).read()))["synsets"]  # type: ignore[union-attr]
        truth = files["ILSVRC2012_validation_ground_truth.txt"]
        ids = [int(line) for line in devkit.extractfile(truth).read().split()]  # type: ignore[union-attr]
    wnid_of = {int(row["ILSVRC2012_ID"].item()): str(row["WNID"].item()) for row in meta.flat}
    wnids = sorted(wnid_of[number] for number in range(1, 1001))
    assert [wnid_of[number] for number in range(1, 1001)] != wnids, "the two orders differ"
    samples = samples_of(lake.root, "imagenet_1k/val")
    assert samples
    for sample in samples:
        number = int(sample.key.rpartition("_")[2])
        wnid = wnid_of[ids[number - 1]]
        assert sample.meta["wnid"] == wnid
        assert sample.cls == wnids.index(wnid)


def test_v2_folders_are_numbers_and_not_positions(tmp_path: Path) -> None:
    top = "imagenetv2-matched-frequency-format-val"
    numbers = [0, 1, 2, 9, 10, 11, 99, 100, 101, 999]
    files = [(f"{top}/{number}/{number:040x}.jpeg", JPEG) for number in numbers]
    # A superscript two is a digit to Python, and no integer.
    strays = [(f"{top}/{folder}/x.jpeg", JPEG) for folder in ("1000", "\u00b2", "9" * 5000)]
    name = "imagenetv2/matched_frequency"
    made = made_of(tmp_path, name, tar_of([*files, *strays]))
    manifest = build(made.root, made.catalog, name)
    found = {each.meta["source_file"].split("/")[1]: each for each in samples_of(made.root, name)}
    assert {folder: each.cls for folder, each in found.items()} == {str(n): n for n in numbers}
    assert found["10"].meta["wnid"] == classes.ilsvrc().wnids[10] == "n01530575"
    assert manifest.ignored == {"not in a class folder": 3}


def test_the_three_subsets_are_different(lake: Made) -> None:
    masks = {}
    for letter in "aor":
        manifest = read_manifest(lake.root, f"imagenet_{letter}/clean")
        assert manifest.mask == f"imagenet_{letter}"
        masks[letter] = set(classes.subset(manifest.mask))
        assert len(masks[letter]) == 200
    assert len(masks["a"] & masks["r"]) < 200
    assert len(masks["a"] & masks["o"]) < 200
    assert len(masks["o"] & masks["r"]) < 200
    for letter in "ar":
        labels = {each.cls for each in samples_of(lake.root, f"imagenet_{letter}/clean")}
        assert labels <= masks[letter]


def test_a_class_outside_the_subset_is_not_taken(tmp_path: Path) -> None:
    files = [(f"imagenet-a/{wnid}/1.0_x _ y_0.5.jpg", JPEG) for wnid in (A_CLASS, OUTSIDE_A)]
    made = made_of(tmp_path, "imagenet_a/clean", tar_of(files))
    manifest = build(made.root, made.catalog, "imagenet_a/clean")
    assert manifest.n_samples == 1
    assert manifest.ignored == {"class folder not in the benchmark's class list": 1}


def test_files_that_are_no_images_are_counted_and_left_out(tmp_path: Path) -> None:
    names = ["a.JPEG", "b.jpg", "Thumbs.db", "._a.JPEG", "README.txt"]
    files = [(f"sketch/n01440764/{name}", JPEG) for name in names]
    made = made_of(tmp_path, "imagenet_sketch/clean", tar_of(files))
    manifest = build(made.root, made.catalog, "imagenet_sketch/clean")
    assert manifest.n_samples == 2
    assert manifest.ignored == {"AppleDouble file": 1, "not named as an image": 2}


def test_out_of_distribution_images_have_no_label(lake: Made) -> None:
    manifest = read_manifest(lake.root, "imagenet_o/clean")
    assert (manifest.n_classes, manifest.label_histogram_sha256) == (0, histogram_hash({}))
    for sample in samples_of(lake.root, "imagenet_o/clean"):
        assert sample.cls is None
        assert sample.meta["labels"] == []
        stem = sample.meta["source_file"].rpartition("/")[2].removesuffix(".JPEG")
        assert f"{sample.meta['content']}_{sample.meta['resnet50_confidence']:.7f}" == stem
        assert sample.meta["folder_wnid"] in classes.ilsvrc().wnids


def test_train_images_come_out_of_their_class_tars(lake: Made) -> None:
    for sample in samples_of(lake.root, "imagenet_1k/train"):
        wnid, _, file = sample.key.partition("/")
        assert sample.meta["wnid"] == wnid == file.partition("_")[0]
        assert sample.cls == classes.index_of(wnid)
        assert sample.meta["source_file"] == f"{wnid}.tar/{file}.JPEG"


def test_corrupted_images_join_to_the_validation_images(lake: Made) -> None:
    val = {each.key: each.cls for each in samples_of(lake.root, "imagenet_1k/val")}
    for name in ("imagenet_c/fog/3", "imagenet_c/saturate/1", "mini_imagenet_c/snow/5"):
        for sample in samples_of(lake.root, name):
            assert val[sample.meta["source_key"]] == sample.cls
            assert f"/{sample.meta['severity']}" == name[-2:]
            assert sample.meta["corruption"] == name.split("/")[1]


def test_a_sequence_is_one_sample(lake: Made) -> None:
    (sample,) = samples_of(lake.root, "imagenet_p/tilt")
    assert (sample.extension, sample.meta["format"]) == ("mp4", "mp4")
    assert sample.image is not None
    assert sample.image[4:8] == b"ftyp"
    assert sample.meta["perturbation"] == "tilt"


def test_background_and_stray_files_are_left_out(lake: Made) -> None:
    manifest = read_manifest(lake.root, "caltech_101/clean")
    assert manifest.ignored["background image"] == 3
    names = [each.meta["class_name"] for each in samples_of(lake.root, "caltech_101/clean")]
    assert "BACKGROUND_Google" not in names
    assert sorted(set(names)) == sorted(set(names), key=names.index), "labels in sorted order"
    manifest = read_manifest(lake.root, "caltech_256/clean")
    assert manifest.ignored == {"not an image of a class": 2}
    by_class = {each.meta["class_name"]: each.cls for each in samples_of(lake.root, manifest.name)}
    assert by_class["clutter"] == 256
    assert by_class["bear"] == 8


def test_what_macos_adds_is_no_part_of_caltech_101(tmp_path: Path) -> None:
    classes_ = ["accordion", "airplanes", "zebra"]
    inner = [
        ("101_ObjectCategories/aaa/notes.jpg", JPEG),
        ("101_ObjectCategories/zebra/._image_0001.jpg", b"Mac OS X"),
        *((f"101_ObjectCategories/{name}/image_0001.jpg", JPEG) for name in classes_),
    ]
    packed = gzip.compress(tar_of(inner))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("caltech-101/101_ObjectCategories.tar.gz", packed)
        archive.writestr("__MACOSX/caltech-101/._101_ObjectCategories.tar.gz", b"Mac OS X")
        archive.writestr("caltech-101/old_101_ObjectCategories.tar.gz", b"something else")
    made = made_of(tmp_path, "caltech_101/clean", outer.getvalue())
    manifest = build(made.root, made.catalog, "caltech_101/clean")
    assert manifest.ignored == {"AppleDouble file": 2, "not an image of a class": 2}
    found = {each.meta["class_name"]: each.cls for each in samples_of(made.root, manifest.name)}
    assert found == {name: position for position, name in enumerate(classes_)}


def test_nested_scenes_are_classes_of_their_own(lake: Made) -> None:
    samples = samples_of(lake.root, "sun_397/clean")
    nested = [each for each in samples if each.meta["class_name"] == "church/outdoor"]
    assert nested
    assert all(each.key.startswith("church/outdoor/sun_") and each.cls == 1 for each in nested)
    assert {each.meta["format"] for each in samples} == {"jpeg", "png", "bmp", "gif"}
    assert {each.extension for each in samples} == {"jpg"}, "the name stays, whatever is inside"


@pytest.mark.parametrize(
    ("dataset", "archive"),
    [
        ("imagenet_a/clean", tar_of([("imagenet-a/README.txt", b"nothing else")])),
        ("imagenet_1k/val", tar_of([("n01440764/x.JPEG", JPEG)])),
        ("sun_397/clean", tar_of([("SUN397/a/abbey/sun_x.jpg", JPEG)])),
        ("imagenet_vid_robust/clean", tar_of([("x/imagenet-vid-robust/val/s/000001.JPEG", JPEG)])),
        ("cifar_100/test", tar_of([("cifar-100-binary/test.bin", bytes(3073))])),
        ("imagenet_real/clean", b'{"1": [2]}'),
        ("imagenet_real/clean", b"[[1000]]"),
        ("imagenet_real/clean", b'[["tench"]]'),
        ("imagenet_1k/val", tar_of([("ILSVRC2012_val_00050001.JPEG", JPEG)])),
        ("imagenet_1k/val", tar_of([(f"{d}/ILSVRC2012_val_00000001.JPEG", JPEG) for d in "ab"])),
    ],
)
def test_an_archive_of_something_else_is_refused(
    tmp_path: Path, dataset: str, archive: bytes
) -> None:
    made = made_of(tmp_path, dataset, archive)
    with pytest.raises(ShiftlakeError) as caught:
        build(made.root, made.catalog, dataset)
    assert caught.value.remedy
    assert not made.root.exists(f"shards/{dataset}/manifest.json")


@pytest.mark.parametrize("dataset", ["imagenet_r/clean", "imagenet_real/clean"])
def test_a_source_replaced_behind_its_receipt_is_refused(fresh: Made, dataset: str) -> None:
    (file,) = fresh.catalog.sources(dataset)
    stored = fresh.root.local_path(file.path)
    size = stored.stat().st_size
    stored.unlink()
    stored.write_bytes((b"<!DOCTYPE html>" * (size // 15 + 1))[:size])
    with pytest.raises(ShiftlakeError, match="DOCTYPE") as caught:
        build(fresh.root, fresh.catalog, dataset)
    assert file.name in str(caught.value.where)
