"""WebDataset shards: the writer, the seal, and the verifying reader.

What belongs here: which published file becomes which sample, and how samples lie in shards. What
does not: how archives arrive and are opened (`ops.fetch`), and what is computed from samples.
"""

from typing import TYPE_CHECKING, Any

from ops.shards.build import build, build_many, expected_version
from ops.shards.export import export
from ops.shards.manifest import (
    DatasetMissing,
    Manifest,
    ShardEntry,
    has_manifest,
    histogram_hash,
    read_manifest,
    sealed_datasets,
)
from ops.shards.plan import ShardSize
from ops.shards.reader import ShardDamaged, Verified, read_shard, verify
from ops.shards.sample import Sample
from ops.shards.write_dataset import write_dataset

if TYPE_CHECKING:
    from ops.shards.dataset import open_dataset

__all__ = [
    "DatasetMissing",
    "Manifest",
    "Sample",
    "ShardDamaged",
    "ShardEntry",
    "ShardSize",
    "Verified",
    "build",
    "build_many",
    "expected_version",
    "export",
    "has_manifest",
    "histogram_hash",
    "open_dataset",
    "read_manifest",
    "read_shard",
    "sealed_datasets",
    "verify",
    "write_dataset",
]


def __getattr__(name: str) -> Any:
    # torch and webdataset cost seconds to import, and only this function needs them.
    if name == "open_dataset":
        from ops.shards.dataset import open_dataset

        return open_dataset
    raise AttributeError(name)
