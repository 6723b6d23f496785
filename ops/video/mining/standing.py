"""Whether a source is mined already, and all of it is still there."""

from __future__ import annotations

import hashlib

from ops.shards.manifest import DatasetMissing, Manifest, read_manifest
from ops.storage import Root, paths
from ops.video.datasets import mined_dataset


def standing_mining(root: Root, source: str, version: str) -> Manifest | None:
    """The seal, if it is of this version and all it names is there."""
    dataset = mined_dataset(source)
    try:
        manifest = read_manifest(root, dataset)
    except DatasetMissing:
        return None
    if manifest.version != version:
        return None
    for entry in manifest.shards:
        if root.size(paths.shard(dataset, entry.name)) != entry.bytes:
            return None
    for table, sealed in (manifest.renderer or {}).get("tables", {}).items():
        try:
            data = root.read_bytes(paths.mined(source, version, f"{table}.parquet"))
        except FileNotFoundError:
            return None
        if hashlib.sha256(data).hexdigest() != sealed["sha256"]:
            return None
    return manifest
