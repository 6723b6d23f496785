"""Write one shard: read its files where they lie, and publish the tar with a note of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType

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


class ShardWriter:
    """One shard being written: nothing of it is to be seen before :meth:`finish`.

    Used as a context manager; left without having finished, it leaves nothing behind. Many may be
    open at once, as long as there are file descriptors for them.

    Parameters
    ----------
    root : Root
    dataset, version, name : str
        Which shard of which build.
    """

    def __init__(self, root: Root, dataset: str, version: str, name: str) -> None:
        self._root, self._dataset, self._version, self._name = root, dataset, version, name
        self._labels: Counter[int] = Counter()
        self._failed: list[FailedSample] = []
        self._count = 0
        self._last = ""
        # To wait for the disk after each shard would halve the speed. What a power failure cuts
        # has another size than the note and the manifest say, so no build and no reader takes it.
        self._publishing = root.writer(paths.shard(dataset, name), durable=False)
        self._open = False

    def __enter__(self) -> ShardWriter:
        self._tar = TarWriter(self._publishing.__enter__())
        self._open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        if not self._open:
            return None
        self._open = False
        # Left without finish() and without an error, a shard is not whole either.
        error = error or GeneratorExit()
        return self._publishing.__exit__(type(error), error, trace)

    def add(self, sample: Sample) -> None:
        """Append a sample.

        Raises
        ------
        ShiftlakeError
            If its key does not come after the last one's.
        """
        if sample.key <= self._last:
            raise ShiftlakeError(
                "Samples reach a shard out of order.",
                expected=f"a key after {self._last}",
                found=sample.key,
                where=f"{self._dataset}/{self._name}",
                remedy="sort the samples by key; each key may stand once",
            )
        self._last = sample.key
        self._tar.add(sample.members())
        self._labels.update(sample.meta["labels"])
        self._count += 1
        if sample.image is not None and sample.meta["format"] is None:
            self._failed.append(
                FailedSample(
                    key=sample.key,
                    source_file=sample.meta["source_file"],
                    reason=sample.meta.get("reason") or _reason(sample.image),
                )
            )

    def finish(self) -> ShardRecord:
        """Publish the shard, then the note that it is finished.

        Raises
        ------
        ShiftlakeError
            If the disk is full; nothing is published then.
        """
        digest = self._tar.close()
        self._open = False
        self._publishing.__exit__(None, None, None)
        entry = ShardEntry(
            name=self._name, n_samples=self._count, bytes=self._tar.bytes, sha256=digest
        )
        labels = dict(sorted(self._labels.items()))
        record = ShardRecord(entry=entry, failed=self._failed, labels=labels)
        # After the shard itself: a note without its shard must never be found.
        note = paths.shard_record(self._dataset, self._version, self._name)
        self._root.write_json(note, record.model_dump(mode="json"), durable=False)
        return record


def publish_shard(
    root: Root, dataset: str, version: str, name: str, samples: Iterable[Sample]
) -> ShardRecord:
    """Write samples, already in the order of their keys, as one shard and publish it."""
    with ShardWriter(root, dataset, version, name) as writer:
        for sample in samples:
            writer.add(sample)
        return writer.finish()


def _reason(data: bytes) -> str:
    return f"no image: begins with {data[:8]!r}" if data else "no image: empty file"
