"""An exported MiniImageNet-C is what Hugging Face `datasets` loads, with its true counts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from shard_parts import Made

from ops.catalog.classes import ilsvrc
from ops.errors import ShiftlakeError
from ops.shards import export, read_manifest
from ops.shards.card import write_card

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
