"""The small network learns, and the same training is the same weights."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ops import catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.models import ModelEntry, list_models
from ops.models.training import train_small_cnn
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, open_root

CLASSES = (7, 300, 999)
QUICK = {"epochs": 5, "batch_size": 16, "width": 8, "image_size": 32}


def picture(kind: int, rng: np.random.Generator) -> bytes:
    """Stripes that lie, stand or run across, of any colours."""
    y, x = np.mgrid[0:40, 0:40]
    wave = np.sin((y, x, x + y)[kind] * 0.8 + rng.uniform(0, 6)) > 0
    colours = rng.integers(0, 256, (2, 3))
    pixels = colours[wave.astype(int)] + rng.normal(0, 10, (40, 40, 3))
    buffer = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def seal(root: Root, name: str, count: int, seed: int, space: str = "ilsvrc1000") -> Manifest:
    rng = np.random.default_rng(seed)
    benchmark, condition = name.split("/")
    samples = [
        Sample(
            f"c{kind}-{index:03d}",
            picture(kind, rng),
            "jpg",
            CLASSES[kind],
            {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": f"{kind}-{index}",
                "labels": [CLASSES[kind]],
                "format": "jpeg",
            },
        )
        for kind in range(len(CLASSES))
        for index in range(count)
    ]
    return write_dataset(root, name, samples, label_space=space, per_shard=40)


def train(root: Root, *datasets: str, **more: object) -> tuple[ModelEntry, list[str]]:
    told: list[str] = []
    entry = train_small_cnn(
        root,
        catalog.load(),
        datasets or ["imagenet_1k/train"],
        **{**QUICK, **more},  # type: ignore[arg-type]
        log=told.append,
    )
    return entry, told


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    seal(root, "imagenet_1k/train", 40, seed=0)
    return root


def test_it_learns_and_predicts_in_the_label_space(root: Root) -> None:
    entry, _ = train(root)
    seal(root, "imagenet_1k/val", 20, seed=1)
    assert entry.class_map == CLASSES
    assert entry.synthetic
    record = evaluate(root, catalog.load(), entry.name, "imagenet_1k/val")
    from pyarrow import parquet

    folder = root.local_path(f"predictions/{entry.name}/imagenet_1k/val/{record.key}")
    rows = [
        row for file in record.files for row in parquet.read_table(folder / file.name).to_pylist()
    ]
    assert {row["pred"] for row in rows} <= set(CLASSES)
    assert sum(row["correct"] for row in rows) / len(rows) >= 0.85
    assert record.synthetic


def test_the_same_training_gives_the_same_weights_elsewhere(root: Root, tmp_path: Path) -> None:
    other = open_root(tmp_path / "other")
    seal(other, "imagenet_1k/train", 40, seed=0)
    assert train(root, epochs=1)[0] == train(other, epochs=1)[0]
    assert train(other, epochs=1, seed=1)[0].weights != train(root, epochs=1)[0].weights


def test_a_training_that_is_registered_is_not_run_again(root: Root) -> None:
    entry, told = train(root, epochs=1)
    again, told_again = train(root, epochs=1)
    assert again == entry
    assert any(line.startswith("epoch") for line in told)
    assert not any(line.startswith("epoch") for line in told_again)
    seal(root, "imagenet_1k/train", 41, seed=2)
    renewed, _ = train(root, epochs=1)
    assert renewed.training != entry.training
    assert renewed.weights != entry.weights
    assert list_models(root) == ["small_cnn"]


def test_datasets_of_two_label_spaces_are_refused(root: Root) -> None:
    seal(root, "cifar_100/train", 2, seed=0, space="cifar100")
    with pytest.raises(ShiftlakeError, match="several label spaces"):
        train(root, "imagenet_1k/train", "cifar_100/train")
