"""An exported MiniImageNet-C is what Hugging Face `datasets` loads, with its true counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from shard_parts import Made, samples_of

from ops.catalog.classes import ilsvrc
from ops.errors import ShiftlakeError
from ops.shards import export, read_manifest, write_dataset
from ops.shards.card import write_card
from ops.storage import open_root

CONDITIONS = ["mini_imagenet_c/fog/5", "mini_imagenet_c/contrast/5"]


@pytest.fixture
def folder(lake: Made, tmp_path: Path) -> Path:
    for name in CONDITIONS:
        export(lake.root, name, tmp_path / "mini")
    write_card(lake.root, CONDITIONS, tmp_path / "mini")
    return tmp_path / "mini"


def test_hugging_face_loads_every_image_with_label_and_corruption(
    lake: Made, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(folder), split="test", cache_dir=str(tmp_path / "cache"))
    wanted = sum(read_manifest(lake.root, name).n_samples for name in CONDITIONS)
    assert len(loaded) == wanted
    assert set(loaded["corruption_type"]) == {"fog", "contrast"}
    assert set(loaded["severity"]) == {5}
    names = loaded.features["label"].names
    assert names == list(ilsvrc().wnids)
    for row in datasets.Dataset.cast_column(loaded, "image", datasets.Image(decode=False)):
        path = Path(row["image"]["path"])
        assert path.parent.name == names[row["label"]]
        assert path.parent.parent.name == "severity_5"


def test_the_header_is_the_published_one_with_true_counts(lake: Made, folder: Path) -> None:
    header = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert header["pretty_name"] == "MiniImageNet-C"
    assert header["license"] == "mit"
    assert header["task_ids"] == ["multi-class-image-classification"]
    split = header["dataset_info"]["splits"][0]
    assert split["name"] == "test"
    assert split["num_examples"] == len(list(folder.rglob("*.JPEG")))


def test_the_card_says_that_images_are_synthetic_and_which_they_are(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert "Synthetic" in text
    assert "published ImageNet-C" in text


def test_no_card_stands_for_two_benchmarks(lake: Made, tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="No card"):
        write_card(lake.root, ["imagenet_c/fog/5", "mini_imagenet_c/fog/5"], tmp_path)


def test_an_export_into_the_same_folder_adds_to_the_card(
    lake: Made, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    before = len(list(folder.rglob("*.JPEG")))
    export(lake.root, "mini_imagenet_c/snow/5", folder)
    write_card(lake.root, ["mini_imagenet_c/snow/5"], folder)
    loaded = datasets.load_dataset(str(folder), split="test", cache_dir=str(tmp_path / "cache"))
    assert set(loaded["corruption_type"]) == {"fog", "contrast", "snow"}
    assert len(loaded) == before + read_manifest(lake.root, "mini_imagenet_c/snow/5").n_samples


def test_a_folder_of_published_images_takes_no_rendered_ones(
    lake: Made, folder: Path, tmp_path: Path
) -> None:
    name = "mini_imagenet_c/snow/5"
    manifest = read_manifest(lake.root, name)
    samples = [
        replace(each, meta={**each.meta, "benchmark": "mini_imagenet_c_rendered"})
        for each in samples_of(lake.root, name)
    ]
    own = open_root(tmp_path / "own")
    rendered = "mini_imagenet_c_rendered/snow/5"
    write_dataset(own, rendered, samples, label_space=manifest.label_space)
    with pytest.raises(ShiftlakeError, match="another export"):
        write_card(own, [rendered], folder)
