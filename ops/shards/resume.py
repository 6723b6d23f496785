"""What an earlier build left: a seal that still stands, or shards that are finished already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from ops.shards.manifest import DatasetMissing, Manifest, read_manifest
from ops.shards.seal import require_counts
from ops.shards.sweep import sweep_dataset
from ops.shards.write import ShardRecord
from ops.storage import Root, paths

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec


def standing_seal(root: Root, spec: DatasetSpec, version: str) -> Manifest | None:
    """The seal of a dataset if it is of this version and its shards are all there.

    Raises
    ------
    ShiftlakeError
        If it stands, but the catalog now expects other counts.
    """
    try:
        manifest = read_manifest(root, spec.name)
    except DatasetMissing:
        return None
    folder = manifest.stored.name
    whole = all(
        root.size(paths.shard(folder, entry.name)) == entry.bytes for entry in manifest.shards
    )
    if manifest.version != version or not whole:
        return None
    # The catalog may expect other counts than when it was sealed.
    require_counts(spec, manifest, outcome="the sealed dataset contradicts the catalog")
    # The build that sealed it may have been killed before it cleared up.
    sweep_dataset(root, manifest)
    return manifest


def finished_shards(root: Root, dataset: str, version: str) -> dict[str, ShardRecord]:
    """Notes of the shards that an unsealed build of this version has published, by shard name."""
    found: dict[str, ShardRecord] = {}
    for path in root.list(paths.unsealed(dataset, version)):
        try:
            record = ShardRecord.model_validate_json(root.read_bytes(path))
        except (FileNotFoundError, ValidationError):
            # Another build has sealed the dataset meanwhile; or a power failure cut the note, which
            # nobody waited for the disk to have.
            continue
        if root.size(paths.shard(dataset, record.entry.name)) == record.entry.bytes:
            found[record.entry.name] = record
    return found
