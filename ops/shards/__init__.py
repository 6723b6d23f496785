"""WebDataset shards: the writer, the seal, and the verifying reader.

What belongs here: which published file becomes which sample, and how samples lie in shards. What
does not: how archives arrive and are opened (`ops.fetch`), and what is computed from samples.
"""

from typing import TYPE_CHECKING, Any

from ops.shards.build import build, build_many, expected_version
from ops.shards.export import export
from ops.shards.manifest import (
    DatasetMissing,
    FailedSample,
    Manifest,
    ShardEntry,
    has_manifest,
    histogram_hash,
    read_manifest,
    sealed_datasets,
    version_of,
)
from ops.shards.plan import ShardSize
from ops.shards.reader import ShardDamaged, Verified, read_shard, verify
from ops.shards.resume import finished_shards, standing_seal
from ops.shards.sample import Sample
from ops.shards.seal import Header, header_of, require_counts, seal
from ops.shards.write import ShardRecord, ShardWriter
from ops.shards.write_dataset import write_dataset

if TYPE_CHECKING:
    from ops.shards.dataset import open_dataset

__all__ = [
    "DatasetMissing",
    "FailedSample",
    "Header",
    "Manifest",
    "Sample",
    "ShardDamaged",
    "ShardEntry",
    "ShardRecord",
    "ShardSize",
    "ShardWriter",
    "Verified",
    "build",
    "build_many",
    "expected_version",
    "export",
    "finished_shards",
    "has_manifest",
    "header_of",
    "histogram_hash",
    "open_dataset",
    "read_manifest",
    "read_shard",
    "require_counts",
    "seal",
    "sealed_datasets",
    "standing_seal",
    "verify",
    "version_of",
    "write_dataset",
]


def __getattr__(name: str) -> Any:
    # torch and webdataset cost seconds to import, and only this function needs them.
    if name == "open_dataset":
        from ops.shards.dataset import open_dataset

        return open_dataset
    raise AttributeError(name)
