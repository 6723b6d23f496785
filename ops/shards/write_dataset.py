"""Seal samples that a program made, rather than a published archive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from ops.shards.manifest import Manifest, version_of
from ops.shards.sample import Sample
from ops.shards.seal import Header, seal
from ops.shards.write import publish_shard
from ops.storage import Root


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
    header = Header(
        name=name,
        label_space=label_space,
        synthetic=synthetic,
        mask=mask,
        renderer=renderer,
        licence=licence,
    )
    return seal(root, header, version, records, written=len(ordered))
