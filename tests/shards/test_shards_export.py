"""Back to loose files: the published names and bytes, and never a file outside the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from shard_parts import Made, made_of, samples_of, tar_of

from ops.errors import ShiftlakeError
from ops.miniature import MiniatureUpstream
from ops.shards import Sample, build, export, read_manifest, write_dataset
from ops.storage import open_root


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "dataset",
    [
        "imagenetv2/top_images", "imagenet_sketch/clean", "imagenet_a/clean", "imagenet_o/clean",
        "imagenet_r/clean", "imagenet_c/fog/3", "imagenet_p/tilt", "imagenet_vid_robust/clean",
        "ytbb_robust/clean", "caltech_256/clean", "sun_397/clean",
    ],
)  # fmt: skip
def test_published_names_and_bytes_come_back(lake: Made, tmp_path: Path, dataset: str) -> None:
    samples = {each.meta["source_file"]: each.image for each in samples_of(lake.root, dataset)}
    assert export(lake.root, dataset, tmp_path) == len(samples)
    assert files_below(tmp_path) == samples


def test_flat_images_become_class_folders(lake: Made, tmp_path: Path) -> None:
    export(lake.root, "imagenet_1k/val", tmp_path)
    export(lake.root, "imagenet_1k/train", tmp_path)
    found = files_below(tmp_path)
    assert len(found) == 48
    for dataset, top in (("imagenet_1k/val", "val"), ("imagenet_1k/train", "train")):
        for sample in samples_of(lake.root, dataset):
            file = sample.meta["source_file"].rpartition("/")[2]
            assert found[f"{top}/{sample.meta['wnid']}/{file}"] == sample.image


def test_the_subset_has_the_folders_of_its_release(lake: Made, tmp_path: Path) -> None:
    export(lake.root, "mini_imagenet_c/fog/5", tmp_path / "mini")
    export(lake.root, "imagenet_c/fog/5", tmp_path / "full")
    mini, full = files_below(tmp_path / "mini"), files_below(tmp_path / "full")
    assert len(mini) == 4
    assert mini == {name.replace("fog/5/", "fog/severity_5/"): data for name, data in full.items()}


def test_archives_in_archives_leave_no_folder(lake: Made, tmp_path: Path) -> None:
    export(lake.root, "caltech_101/clean", tmp_path)
    assert {name.split("/")[0] for name in files_below(tmp_path)} == {"101_ObjectCategories"}


def test_records_become_images(lake: Made, tmp_path: Path) -> None:
    export(lake.root, "cifar_100/test", tmp_path)
    paths = sorted((tmp_path / "cifar-100-binary" / "test").glob("*.png"))
    assert len(paths) == 24
    with Image.open(paths[0]) as image:
        assert image.size == (32, 32)


def test_exporting_again_keeps_what_is_there(lake: Made, tmp_path: Path) -> None:
    export(lake.root, "imagenet_a/clean", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jpg")}
    assert export(lake.root, "imagenet_a/clean", tmp_path) == 12
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jpg")} == before
    first = min(before)
    first.write_bytes(b"mine")
    with pytest.raises(ShiftlakeError, match="in the way"):
        export(lake.root, "imagenet_a/clean", tmp_path)
    assert first.read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["../outside.jpg", "/outside.jpg", "a/../../outside.jpg"])
def test_no_file_leaves_the_folder(tmp_path: Path, name: str) -> None:
    root = open_root(tmp_path / "lake")
    meta = {
        "benchmark": "made", "condition": "bad", "labels": [], "format": "jpeg",
        "source_file": name,
    }  # fmt: skip
    write_dataset(
        root, "made/bad", [Sample("k", b"\xff\xd8\xff", "jpg", None, meta)], label_space="x"
    )
    with pytest.raises(ShiftlakeError, match="leave"):
        export(root, "made/bad", tmp_path / "folder")
    assert not (tmp_path / "outside.jpg").exists()


def test_a_hostile_wnid_does_not_leave_the_folder(tmp_path: Path) -> None:
    root = open_root(tmp_path / "lake")
    meta = {
        "benchmark": "imagenet_1k", "condition": "val", "labels": [], "format": "jpeg",
        "source_file": "a.JPEG", "wnid": "../../..",
    }  # fmt: skip
    write_dataset(
        root, "imagenet_1k/val", [Sample("k", b"\xff\xd8\xff", "jpg", None, meta)], label_space="x"
    )
    with pytest.raises(ShiftlakeError, match="leave"):
        export(root, "imagenet_1k/val", tmp_path / "deep" / "folder")
    assert not list(tmp_path.rglob("a.JPEG"))


def test_labels_alone_cannot_be_exported(lake: Made, tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="labels") as caught:
        export(lake.root, "imagenet_real/clean", tmp_path)
    assert "imagenet_1k/val" in caught.value.remedy


def test_the_release_and_its_export_are_the_same_tree(
    lake: Made, upstream: MiniatureUpstream, tmp_path: Path
) -> None:
    export(lake.root, "imagenetv2/threshold07", tmp_path)
    found = files_below(tmp_path)
    assert set(found) == set(upstream.truth["imagenetv2/threshold07"])
    made = made_of(tmp_path / "again", "imagenetv2/threshold07", tar_of(sorted(found.items())))
    manifest = build(made.root, made.catalog, "imagenetv2/threshold07")
    original = read_manifest(lake.root, "imagenetv2/threshold07")
    assert manifest.label_histogram_sha256 == original.label_histogram_sha256
    samples = samples_of(made.root, manifest.name)
    assert samples == samples_of(lake.root, manifest.name)
