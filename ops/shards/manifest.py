"""The seal of a dataset: what its shards hold, and what they were made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root, paths

FORMAT = 1


class DatasetMissing(ShiftlakeError):
    """A dataset has no manifest: it does not exist."""


class ShardEntry(BaseModel):
    """One sealed shard."""

    model_config = ConfigDict(frozen=True)

    name: str
    n_samples: int
    bytes: int
    sha256: str


class FailedSample(BaseModel):
    """A sample whose bytes are no image; it stays in its shard and counts as failed."""

    model_config = ConfigDict(frozen=True)

    key: str
    source_file: str
    reason: str


class SourceRef(BaseModel):
    """A published archive, or a sealed dataset, that a dataset was made of."""

    model_config = ConfigDict(frozen=True)

    benchmark: str
    file: str
    name: str
    sha256: str
    bytes: int


class Manifest(BaseModel):
    """The seal of a dataset.

    `version` is a hash of everything that determines the content, so that making the same
    dataset again changes nothing downstream. `n_samples` counts every sample in the shards;
    `n_failed` of them are known not to be images.
    """

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    name: str
    benchmark: str
    condition: str
    version: str
    n_samples: int
    n_failed: int
    failed: tuple[FailedSample, ...]
    n_classes: int
    class_count_min: int
    class_count_max: int
    label_space: str
    label_histogram_sha256: str
    mask: str | None
    joined_to: str | None = None
    ignored: dict[str, int]
    sources: tuple[SourceRef, ...]
    parameters: dict[str, Any]
    renderer: dict[str, Any] | None = None
    licence: str | None
    synthetic: bool
    shards: tuple[ShardEntry, ...]

    @property
    def bytes(self) -> int:
        """Size of all shards in bytes."""
        return sum(entry.bytes for entry in self.shards)

    @property
    def as_source(self) -> SourceRef:
        """How a dataset made of this one refers to it: by its version."""
        return SourceRef(
            benchmark=self.benchmark,
            file=self.condition,
            name=self.name,
            sha256=self.version,
            bytes=self.bytes,
        )

    @property
    def on_the_fly(self) -> bool:
        """Whether its images are made as they are read, out of another dataset's shards."""
        return self.renderer is not None and self.renderer.get("form") == "on_the_fly"

    @property
    def stored(self) -> Manifest:
        """The dataset as its shards lie there: itself, or the source of one made on the fly."""
        if self.renderer is None or not self.on_the_fly:
            return self
        name = str(self.renderer["source"])
        benchmark, condition = name.split("/", 1)
        version = str(self.renderer["source_version"])
        return self.model_copy(
            update={
                "name": name,
                "benchmark": benchmark,
                "condition": condition,
                "version": version,
                "renderer": None,
            }
        )


def version_of(determinants: dict[str, Any]) -> str:
    """Dataset version: 16 hex digits of the sha256 of what determines the content."""
    text = json.dumps({"format": FORMAT, **determinants}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def histogram_hash(histogram: Mapping[int, int]) -> str:
    """sha256 of a label histogram, written as ``label:count`` in the order of the labels."""
    text = ",".join(f"{label}:{histogram[label]}" for label in sorted(histogram))
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(root: Root | str, dataset: str) -> Manifest:
    """Read the seal of a dataset.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed, or its manifest cannot be understood.
    """
    root = open_root(root)
    path = paths.manifest(dataset)
    try:
        manifest = Manifest.model_validate_json(root.read_bytes(path))
    except FileNotFoundError:
        raise DatasetMissing(
            f"The dataset {dataset} does not exist.",
            expected="a sealed dataset",
            found="no manifest",
            where=root.at(path),
            remedy=_making(dataset),
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DatasetMissing(
            f"The manifest of {dataset} cannot be understood.",
            expected=f"a manifest of format {FORMAT}",
            found=f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}",
            where=root.at(path),
            remedy=f"remove it and build again: shiftlake build {dataset}",
        ) from error
    _require_coherent(root, dataset, manifest)
    return manifest


def _making(dataset: str) -> str:
    """How a dataset that is not there comes to be."""
    benchmark, _, condition = dataset.partition("/")
    if benchmark == "frame_sets":
        return f"mine it: shiftlake video mine {condition}"
    if benchmark == "reviewed_frame_sets":
        return f"freeze its review: shiftlake reviews freeze {condition}"
    return f"build it: shiftlake build {dataset}"


def _require_coherent(root: Root, dataset: str, manifest: Manifest) -> None:
    """Refuse a manifest of another dataset, of another format, or at odds with itself."""
    total = sum(entry.n_samples for entry in manifest.shards)
    # A name with a slash would reach into another dataset's folder.
    loose = [entry.name for entry in manifest.shards if "/" in entry.name]
    for what, expected, found in (
        ("format", FORMAT, manifest.format),
        ("dataset", dataset, manifest.name),
        ("number of samples (beside those of its shards)", total, manifest.n_samples),
        ("list of shard names with a slash", [], loose),
    ):
        if expected != found:
            raise DatasetMissing(
                f"The manifest of {dataset} is not valid: wrong {what}.",
                expected=expected,
                found=found,
                where=root.at(paths.manifest(dataset)),
                remedy=f"remove it and build again: shiftlake build {dataset}",
            )


def has_manifest(root: Root, dataset: str) -> bool:
    """Whether a dataset is sealed."""
    return root.exists(paths.manifest(dataset))


def sealed_datasets(root: Root | str) -> list[str]:
    """Names of all sealed datasets, sorted."""
    root = open_root(root)
    suffix = "/manifest.json"
    return sorted(
        path.removeprefix("shards/").removesuffix(suffix)
        for path in root.list("shards")
        if path.endswith(suffix)
    )
