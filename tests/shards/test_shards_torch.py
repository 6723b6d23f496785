"""Shards in the hands of training code: our dataset, plain webdataset, and other readers."""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import webdataset as wds
from PIL import Image
from shard_parts import Made, made_of, same_sources, samples_of, tar_of
from torch.utils.data import DataLoader

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.miniature import MiniatureUpstream
from ops.shards import ShardDamaged, ShardSize, build, open_dataset

VAL = "imagenet_1k/val"


@pytest.fixture(scope="module")
def many(fetched: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The validation set in eight shards, and its ReaL labels."""
    made = same_sources(fetched, tmp_path_factory.mktemp("many") / "lake")
    build(made.root, made.catalog, VAL, size=ShardSize(samples=3))
    build(made.root, made.catalog, "imagenet_real")
    return made


@pytest.mark.parametrize("workers", [0, 2])
def test_every_sample_once_through_a_loader(many: Made, workers: int) -> None:
    dataset = open_dataset(many.root.url, VAL)
    assert len(dataset) == 24
    loader: Any = DataLoader(dataset, batch_size=None, num_workers=workers)
    expected = {each.key: each for each in samples_of(many.root, VAL)}
    seen: Counter[str] = Counter()
    for sample in loader:
        seen[sample["key"]] += 1
        original = expected[sample["key"]]
        assert sample["label"] == original.cls
        assert sample["meta"] == original.meta
        image = sample["image"]
        assert (image.dtype, image.shape[0], image.ndim) == (torch.uint8, 3, 3)
        with Image.open(io.BytesIO(original.image or b"")) as opened:
            np.testing.assert_array_equal(image.permute(1, 2, 0), np.asarray(opened.convert("RGB")))
    assert seen == Counter(dict.fromkeys(expected, 1))
    assert sum(1 for _ in loader) == 24, "a second epoch sees them all again"


def test_batches_of_transformed_images(many: Made) -> None:
    def transform(image: Image.Image) -> torch.Tensor:
        return torch.from_numpy(np.array(image.resize((8, 8)))).permute(2, 0, 1) / 255

    dataset = open_dataset(many.root, VAL, transform=transform).map(
        lambda sample: (sample["image"], sample["label"])
    )
    batches = list(DataLoader(dataset, batch_size=10))
    assert [tuple(images.shape) for images, _ in batches] == [(10, 3, 8, 8)] * 2 + [(4, 3, 8, 8)]
    labels = torch.cat([labels for _, labels in batches]).tolist()
    assert sorted(labels) == sorted(each.cls for each in samples_of(many.root, VAL))  # type: ignore[type-var]


def test_published_bytes_can_be_had(many: Made) -> None:
    found = {each["key"]: each["image"] for each in open_dataset(many.root, VAL, decode=False)}
    assert found == {each.key: each.image for each in samples_of(many.root, VAL)}


def test_real_labels_are_joined_to_their_images(many: Made, upstream: MiniatureUpstream) -> None:
    found = {each["key"]: each for each in open_dataset(many.root, "imagenet_real")}
    truth = upstream.truth["imagenet_real/clean"]
    assert len(found) == len(truth) == 24
    for file, labels in truth.items():
        sample = found[file.removesuffix(".JPEG")]
        assert sample["labels"] == labels
        assert sample["label"] == (labels[0] if len(labels) == 1 else -1)
        assert sample["image"].dtype == torch.uint8


def test_sequences_and_labels_without_images_come_as_they_are(lake: Made) -> None:
    (sample,) = open_dataset(lake.root, "imagenet_p/tilt")
    assert sample["image"][4:8] == b"ftyp"
    outside = list(open_dataset(lake.root, "imagenet_o"))
    assert {each["label"] for each in outside} == {-1}


def test_an_image_that_does_not_decode_is_named(lake: Made) -> None:
    with pytest.raises(ShiftlakeError, match="sun_bhenjvsvrtumjuri") as caught:
        list(open_dataset(lake.root, "sun_397"))
    assert "decode=False" in caught.value.remedy
    assert sum(1 for _ in open_dataset(lake.root, "sun_397", decode=False)) == 37


def test_damage_is_told_while_loading(fetched: Made, tmp_path: Path) -> None:
    made = same_sources(fetched, tmp_path / "lake")
    manifest = build(made.root, made.catalog, VAL, size=ShardSize(samples=6))
    path = made.root.local_path(f"shards/{VAL}/{manifest.shards[1].name}")
    data = bytearray(path.read_bytes())
    data[700] ^= 1
    path.write_bytes(data)
    assert sum(1 for _ in open_dataset(made.root, VAL, decode=False)) == 24
    with pytest.raises(ShardDamaged, match=path.name):
        list(open_dataset(made.root, VAL, decode=False, verify="hash"))
    path.unlink()
    with pytest.raises(ShardDamaged, match="no file"):
        list(open_dataset(made.root, VAL, decode=False))


def test_plain_webdataset_reads_the_shards(many: Made) -> None:
    urls = [str(path) for path in sorted(Path(many.root.url).glob(f"shards/{VAL}/*.tar"))]
    dataset = wds.WebDataset(urls, shardshuffle=False).decode("pil").to_tuple("jpg", "cls", "json")
    samples = samples_of(many.root, VAL)
    found = list(dataset)
    assert len(found) == len(samples) == 24
    for (image, label, meta), sample in zip(found, samples, strict=True):
        assert image.mode == "RGB"
        assert (label, meta) == (sample.cls, sample.meta)


def test_braces_name_all_shards(many: Made) -> None:
    first = sorted(Path(many.root.url).glob(f"shards/{VAL}/*.tar"))[0]
    pattern = str(first).replace("000000.tar", "{000000..000007}.tar")
    keys = [each["__key__"] for each in wds.WebDataset(pattern, shardshuffle=False)]
    assert len(set(keys)) == 24


def test_readers_that_split_at_the_first_dot_see_whole_samples(lake: Made) -> None:
    # As the Hugging Face loader groups members: everything before the first dot is the key.
    for dataset in ("imagenet_a/clean", "imagenet_o/clean", "caltech_256/clean"):
        found: dict[str, dict[str, bytes]] = {}
        for path in sorted(Path(lake.root.url).glob(f"shards/{dataset}/*.tar")):
            with tarfile.open(path) as archive:
                for member in archive:
                    key, _, extension = member.name.partition(".")
                    data = archive.extractfile(member).read()  # type: ignore[union-attr]
                    found.setdefault(key, {})[extension] = data
        samples = {each.key: each for each in samples_of(lake.root, dataset)}
        assert set(found) == set(samples)
        for key, members in found.items():
            wanted = {"jpg", "json"} if samples[key].cls is None else {"jpg", "cls", "json"}
            assert set(members) == wanted
            assert json.loads(members["json"])["labels"] == samples[key].meta["labels"]


@pytest.mark.parametrize("per_class", [1, 2])
def test_a_smaller_subset_shows_the_same_photographs_everywhere(
    tmp_path: Path, per_class: int
) -> None:
    wnids = ("n01440764", "n01443537")
    numbers = range(1, 9)
    chosen: list[set[str]] = []
    for turn, group in enumerate(("fog", "snow", "fog")):
        files = [
            (f"{group}/5/{wnid}/ILSVRC2012_val_{n:08d}.JPEG", b"\xff\xd8\xff" + bytes([n, turn]))
            for wnid in wnids
            for n in (numbers if turn == 0 else reversed(numbers))
        ]
        full, mini = f"imagenet_c/{group}/5", f"mini_imagenet_c/{group}/5"
        made = made_of(tmp_path / str(turn), full, tar_of(files))
        fields = {
            "expected": None, "per_class": None, "expected_classes": None,
            "parameters": {"n_per_class": per_class, "seed": 7600},
        }  # fmt: skip
        build(made.root, made.catalog, full)
        catalog = made.catalog.model_copy(
            update={
                "datasets": {
                    **made.catalog.datasets,
                    mini: load().dataset(mini).model_copy(update=fields),
                }
            }
        )
        manifest = build(made.root, catalog, mini)
        assert (manifest.n_samples, manifest.n_classes) == (2 * per_class, 2)
        assert manifest.ignored == {f"beyond {per_class} a class": 16 - 2 * per_class}
        chosen.append({each.key for each in samples_of(made.root, mini)})
    assert chosen[0] == chosen[1] == chosen[2]
