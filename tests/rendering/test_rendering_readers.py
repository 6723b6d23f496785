"""Rendered shards are ordinary WebDataset tars, for any reader."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import webdataset as wds
from PIL import Image
from rendering_parts import NOISE, Lake, lake_of, photograph, pixels, samples_of, val_samples

from ops.perturbations.video import decode as decode_video
from ops.rendering import render
from ops.shards import open_dataset, read_manifest

NAME = NOISE[1]


def shard_paths(lake: Lake, name: str) -> list[str]:
    manifest = read_manifest(lake.root, name)
    return [str(lake.root.local_path(f"shards/{name}/{each.name}")) for each in manifest.shards]


def test_webdataset_reads_every_image_with_its_label(rendered: Lake) -> None:
    expected = {each.key: each for each in samples_of(rendered.root, NAME)}
    dataset: Any = wds.WebDataset(shard_paths(rendered, NAME), shardshuffle=False).decode("rgb8")
    seen = []
    for row in dataset:
        sample = expected[row["__key__"]]
        assert np.array_equal(row["jpg"], pixels(sample.image))
        assert row["jpg"].shape == (224, 224, 3)
        assert row["cls"] == sample.cls
        assert row["json"] == sample.meta
        seen.append(row["__key__"])
    assert seen == list(expected)


def test_hugging_face_datasets_reads_every_image_with_its_label(
    rendered: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(
        "webdataset",
        data_files={"test": shard_paths(rendered, NAME)},
        split="test",
        cache_dir=str(tmp_path / "cache"),
    )
    expected = samples_of(rendered.root, NAME)
    assert loaded["__key__"] == [each.key for each in expected]
    for row, sample in zip(loaded, expected, strict=True):
        assert np.array_equal(np.asarray(row["jpg"]), pixels(sample.image))
        assert int(row["cls"]) == sample.cls
        assert row["json"]["source_key"] == sample.meta["source_key"]


def test_our_own_reader_for_torch(rendered: Lake) -> None:
    rows = list(open_dataset(rendered.root, NAME, verify="hash"))
    assert [row["key"] for row in rows] == [each.key for each in samples_of(rendered.root, NAME)]
    assert all(tuple(row["image"].shape) == (3, 224, 224) for row in rows)


def test_a_video_is_a_member_like_any_other(tmp_path: Path) -> None:
    name = "imagenet_p_rendered/rotate"
    lake = lake_of(tmp_path, val_samples([photograph(1), photograph(2)]))
    render(lake.root, lake.catalog, [name])
    rows = list(wds.WebDataset(shard_paths(lake, name), shardshuffle=False))
    assert len(rows) == 2
    for row in rows:
        assert decode_video(row["mp4"]).shape == (31, 224, 224, 3)
        assert json.loads(row["json"])["perturbation"] == "rotate"


def test_a_distorted_image_is_a_png_that_pillow_reads(tmp_path: Path) -> None:
    name = "distorted_imagenet/gaussian_noise/1"
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    render(lake.root, lake.catalog, [name])
    (row,) = wds.WebDataset(shard_paths(lake, name), shardshuffle=False)
    image = Image.open(io.BytesIO(row["png"]))
    image.verify()
    assert (image.format, image.size, image.mode) == ("PNG", (256, 256), "RGB")
