"""Write one shard: read its files where they lie, and publish the tar with a note of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel

from ops.errors import ShiftlakeError
from ops.fetch.archive_members import Reader, Span
from ops.shards.layouts import Layout
from ops.shards.manifest import FailedSample, ShardEntry
from ops.shards.sample import Sample
from ops.shards.tarball import TarWriter
from ops.storage import Root, paths


class ShardRecord(BaseModel):
    """The note that a shard of an unsealed build is finished, and what the seal needs of it."""

    entry: ShardEntry
    failed: list[FailedSample]
    labels: dict[int, int]


@dataclass(frozen=True)
class ShardTask:
    """All a worker needs to write one shard."""

    root: Root
    version: str
    name: str
    layout: Layout
    files: list[tuple[str, Span]]


def write_shard(task: ShardTask) -> ShardRecord:
    """Write and publish one shard.

    Raises
    ------
    ShiftlakeError
        If the archive is damaged under a sample, or the disk is full; nothing is published then.
    """
    with Reader() as reader:
        samples = (task.layout.sample(name, reader.read(span)) for name, span in task.files)
        return publish_shard(task.root, task.layout.spec.name, task.version, task.name, samples)


def publish_shard(
    root: Root, dataset: str, version: str, name: str, samples: Iterable[Sample]
) -> ShardRecord:
    """Write samples, already in the order of their keys, as one shard and publish it."""
    labels: Counter[int] = Counter()
    failed: list[FailedSample] = []
    count = 0
    last = ""
    # To wait for the disk after each shard would halve the speed. What a power failure cuts has
    # another size than the note and the manifest say, so no build and no reader takes it.
    with root.writer(paths.shard(dataset, name), durable=False) as file:
        tar = TarWriter(file)
        for sample in samples:
            if sample.key <= last:
                raise ShiftlakeError(
                    "Samples reach a shard out of order.",
                    expected=f"a key after {last}",
                    found=sample.key,
                    where=f"{dataset}/{name}",
                    remedy="sort the samples by key; each key may stand once",
                )
            last = sample.key
            tar.add(sample.members())
            labels.update(sample.meta["labels"])
            count += 1
            if sample.image is not None and sample.meta["format"] is None:
                failed.append(
                    FailedSample(
                        key=sample.key,
                        source_file=sample.meta["source_file"],
                        reason=_reason(sample.image),
                    )
                )
        digest = tar.close()
    entry = ShardEntry(name=name, n_samples=count, bytes=tar.bytes, sha256=digest)
    record = ShardRecord(entry=entry, failed=failed, labels=dict(sorted(labels.items())))
    # After the shard itself: a note without its shard must never be found.
    note = paths.shard_record(dataset, version, name)
    root.write_json(note, record.model_dump(mode="json"), durable=False)
    return record


def _reason(data: bytes) -> str:
    return f"no image: begins with {data[:8]!r}" if data else "no image: empty file"
