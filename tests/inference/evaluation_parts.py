from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer
from PIL import Image

from ops import catalog as catalog_room
from ops.catalog import Catalog
from ops.inference import RunRecord
from ops.models import ModelEntry, Transform, register
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, open_root, paths

TINY = Transform(resize=36, crop=32)
PHOTOGRAPHS = 5


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return catalog_room.load()


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def s3_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Root]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "SHIFTLAKE_SCRATCH": str(tmp_path / "scratch"),
        }.items():
            monkeypatch.setenv(name, value)
        root = open_root(f"s3://inference-{tmp_path.name.replace('_', '-')}/lake"[:60])
        root.fs.mkdir(root.url.removeprefix("s3://").split("/")[0])
        yield root
    finally:
        server.stop()


@pytest.fixture
def few(catalog: Catalog) -> Catalog:
    """The catalog without its counts: a handful of photographs stands for 50,000."""
    free = {"expected": None, "expected_classes": None, "per_class": None}
    datasets = {n: spec.model_copy(update=free) for n, spec in catalog.datasets.items()}
    return catalog.model_copy(update={"datasets": datasets})


@pytest.fixture
def photographs(root: Root) -> Manifest:
    """Photographs of several sizes, one of them cut, in two shards."""
    samples = []
    for index in range(PHOTOGRAPHS):
        key = f"ILSVRC2012_val_{index + 1:08d}"
        image = jpeg(index, 300 + 20 * index, 280)
        meta = {
            "benchmark": "imagenet_1k",
            "condition": "val",
            "source_key": key,
            "source_file": f"{key}.JPEG",
            "labels": [index],
            "wnid": "n01440764",
            "format": "jpeg",
        }
        samples.append(Sample(key, image, "jpg", index, meta))
    samples[3] = dataclasses.replace(samples[3], image=b"<html>gone</html>")
    return write_dataset(root, "imagenet_1k/val", samples, label_space="ilsvrc1000", per_shard=3)


def jpeg(seed: int, width: int = 48, height: int = 40) -> bytes:
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def made_samples(
    name: str, count: int, labels: Callable[[int], list[int]], **more: object
) -> list[Sample]:
    """Samples whose keys are ``s00000`` and on; label lists by index."""
    benchmark, condition = name.split("/", 1)
    return [
        Sample(
            f"s{index:05d}",
            jpeg(index),
            "jpg",
            None,
            {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": f"photo-{index}",
                "labels": labels(index),
                "format": "jpeg",
                **more,
            },
        )
        for index in range(count)
    ]


def seal(
    root: Root,
    name: str = "imagenetv2/matched_frequency",
    count: int = 20,
    labels: Callable[[int], list[int]] = lambda index: [index * 37 % 1000],
    *,
    label_space: str = "ilsvrc1000",
    mask: str | None = None,
    per_shard: int = 7,
    **more: object,
) -> Manifest:
    return write_dataset(
        root,
        name,
        made_samples(name, count, labels, **more),
        label_space=label_space,
        mask=mask,
        per_shard=per_shard,
    )


def add_model(
    root: Root, name: str = "pooled", outputs: int = 1000, **fields: object
) -> ModelEntry:
    given = {
        "kind": "callable",
        "reference": "tiny_networks:Pooled",
        "kwargs": {"outputs": outputs},
        "transform": TINY,
        **fields,
    }
    # Unchecked: some of them are meant to fail only later.
    return register(root, ModelEntry(name=name, **given), check=False)


def table_of(root: Root, record: RunRecord) -> pa.Table:
    folder = paths.run(record.model, record.dataset, record.key)
    parts = [
        pq.read_table(io.BytesIO(root.read_bytes(f"{folder}/{file.name}"))) for file in record.files
    ]
    return pa.concat_tables(parts)


def bytes_of(root: Root, record: RunRecord) -> dict[str, bytes]:
    folder = paths.run(record.model, record.dataset, record.key)
    return {file.name: root.read_bytes(f"{folder}/{file.name}") for file in record.files}
