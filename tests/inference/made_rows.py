"""Rows made of logits alone: no image, no network."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import torch

from ops.catalog import classes
from ops.inference.batches import Batch
from ops.inference.projection import Projection
from ops.inference.rows import RowMaker
from ops.shards import Sample


def maker(
    masks: tuple[str, ...] = (),
    frames: int | None = None,
    *,
    own: str | None = None,
    reference: str = "previous",
    n_classes: int = 1000,
) -> RowMaker:
    manifest = SimpleNamespace(
        benchmark="imagenet_c",
        condition="fog/3",
        version="1" * 16,
        parameters={"frames": frames, "reference": reference} if frames else {},
    )
    subsets = {name: classes.subset(name) for name in masks}
    projection = Projection("network", "imagenet_c/fog/3", None, n_classes, None, own, subsets)
    entry = SimpleNamespace(name="network", head="softmax", precision="fp32")
    return RowMaker("0" * 16, entry, manifest, projection)


def batch(labels: list[list[int]], unread: tuple[int, ...] = ()) -> Batch:
    """Samples ``n.../ILSVRC2012_val_...`` with these labels; some cannot be decoded."""
    samples = []
    for own, number in zip(labels, np.random.default_rng(0).permutation(50_000), strict=False):
        source = f"ILSVRC2012_val_{number:08d}"
        key = f"n{1440764 + 10_007 * (own or [0])[0]:08d}/{source}"
        samples.append(Sample(key, None, "jpg", None, {"source_key": source, "labels": own}))
    errors = ["no image" if i in unread else None for i in range(len(samples))]
    shard = SimpleNamespace(name="imagenet_c-fog-3-000000.tar")
    return Batch(shard, samples, torch.empty(0), errors)


@cache
def network_rows(count: int, masks: tuple[str, ...] = (), frames: int | None = None) -> pa.Table:
    """Rows of features under a linear head, as a network has them: classes are alike in groups."""
    rng = np.random.default_rng(0)
    head = rng.normal(0, 0.28, (64, 1000)) + np.repeat(rng.normal(0, 0.28, (64, 100)), 10, 1)
    count //= frames or 1
    labels = np.sort(rng.integers(0, 1000, count))
    features = head[:, labels].T * rng.gamma(8, 0.25, (count, 1)) + rng.normal(size=(count, 64))
    if frames:
        features = features.repeat(frames, 0) + rng.normal(0, 0.25, (count * frames, 64))
    given = batch([[label] for label in labels.tolist()], unread=(7,))
    rows = maker(masks, frames).rows(given, (features @ head).astype(np.float32))
    return pa.Table.from_batches([rows]).sort_by("sample_key")
