"""Seal samples that a program made, rather than a published archive."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ops.shards.manifest import Manifest, histogram_hash, version_of
from ops.shards.sample import Sample
from ops.shards.write import publish_shard
from ops.storage import Root, paths


def write_dataset(
    root: Root,
    name: str,
    samples: Iterable[Sample],
    *,
    label_space: str,
    mask: str | None = None,
    renderer: dict[str, Any] | None = None,
    licence: str | None = None,
    synthetic: bool = True,
    per_shard: int = 2_500,
) -> Manifest:
    """Write samples as a sealed dataset.

    Parameters
    ----------
    root : Root
    name : str
        ``<benchmark>/<condition>``; each sample's `meta` must name the same two.
    samples : iterable of Sample
        Held in memory and sorted by key.
    label_space, mask : str
        As in the catalog.
    renderer : dict, optional
        Name, version, parameters and seed of the program that made the samples.
    licence : str, optional
    synthetic : bool
        Whether the images show nothing real.
    per_shard : int
        Samples in a shard.

    Returns
    -------
    Manifest
    """
    ordered = sorted(samples, key=lambda sample: sample.key)
    content = hashlib.sha256()
    for sample in ordered:
        for member, data in sample.members():
            content.update(f"{member} {len(data)}\n".encode() + data)
    version = version_of({"name": name, "content": content.hexdigest(), "per_shard": per_shard})
    slug = name.replace("/", "-")
    records = [
        publish_shard(
            root,
            name,
            version,
            f"{slug}-{version[:8]}-{start // per_shard:06d}.tar",
            ordered[start : start + per_shard],
        )
        for start in range(0, len(ordered), per_shard)
    ]
    histogram: Counter[int] = Counter()
    for record in records:
        histogram.update(record.labels)
    failed = tuple(sample for record in records for sample in record.failed)
    manifest = Manifest(
        name=name,
        benchmark=name.split("/", 1)[0],
        condition=name.split("/", 1)[1],
        version=version,
        n_samples=len(ordered),
        n_failed=len(failed),
        failed=failed,
        n_classes=len(histogram),
        class_count_min=min(histogram.values(), default=0),
        class_count_max=max(histogram.values(), default=0),
        label_space=label_space,
        label_histogram_sha256=histogram_hash(histogram),
        mask=mask,
        ignored={},
        sources=(),
        parameters={},
        renderer=renderer,
        licence=licence,
        synthetic=synthetic,
        shards=tuple(record.entry for record in records),
    )
    root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    root.remove_folder(paths.unsealed(name, version))
    return manifest
