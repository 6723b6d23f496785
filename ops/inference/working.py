"""The work of one process: shards in, published rows out, on one device.

Five things go on at once, none of them far ahead of the next: a thread reads and hashes shards,
threads decode, the device computes, a thread makes rows and publishes them, and the caller hands
batches on. What is in memory does not grow with the dataset.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass

import pyarrow as pa

from ops.inference.batches import Batch, batches
from ops.inference.computing import HOST_IMAGES, Outputs, open_computing
from ops.inference.environment import device_name, versions
from ops.inference.expected import frames
from ops.inference.failure import ModelFailed, blamed_on_model
from ops.inference.files import Finished
from ops.inference.finished import finish
from ops.inference.forward import Forward
from ops.inference.job import Job
from ops.inference.logits import logit_rows
from ops.inference.opening import open_input
from ops.inference.projection import projection
from ops.inference.reproducible import reproducible
from ops.inference.rows import RowMaker
from ops.models import load
from ops.shards import ShardEntry


@dataclass(frozen=True)
class Used:
    """On what a process computed, and how.

    Attributes
    ----------
    device_name : str
    versions : dict of str to str
        Of the libraries and the driver.
    images : int or None
        Images at most in a pass, as it was at the end; None if nothing was computed.
    """

    device_name: str
    versions: dict[str, str]
    images: int | None = None


# Rows computed, or a shard's name and what was published of it, or what it was done on.
Step = int | tuple[str, Finished] | Used


class Kept:
    """The network of the evaluation before, for the next one of the same model.

    Building it and hashing its weights takes seconds, and a model has 75 datasets of ImageNet-C.
    """

    def __init__(self) -> None:
        self._of: tuple[object, ...] | None = None
        self._forward: Forward | None = None

    def forward(self, job: Job) -> Forward:
        """The forward pass of a job; built where the one before was another."""
        of = (job.root.url, job.entry, job.numerics, job.batch_size)
        if self._forward is None or self._of != of:
            self.drop()
            self._forward, self._of = _built(job), of
        return self._forward

    def drop(self) -> None:
        """Free the network."""
        self._of = self._forward = None


def _built(job: Job) -> Forward:
    try:
        network = load(job.root, job.entry)
    except SystemExit as error:
        raise ModelFailed(
            "The model ended the program as it was built.",
            expected="a network",
            found=f"SystemExit {error.code}",
            where=job.entry.name,
            remedy="correct the model and register it again; other evaluations do not depend on it",
        ) from error
    images = job.batch_size if job.numerics.device == "cuda" else HOST_IMAGES
    return Forward(network, job.entry.transform, job.numerics, job.entry.name, images=images)


def work(
    job: Job, shards: Iterable[ShardEntry], workers: int, kept: Kept | None = None
) -> Generator[Step]:
    """Evaluate shards one after the other.

    Parameters
    ----------
    job : Job
    shards : iterable of ShardEntry
        Asked for the next one, by a thread, when the one before has been read.
    workers : int
        Decoding threads.
    kept : Kept or None
        Has the network, or gets it.

    Yields
    ------
    int or (str, Finished) or Used
        The rows of a batch that was computed; after the last of a shard, what is stored of it;
        after the last shard, what they were computed on. To be closed by who does not take all.

    Raises
    ------
    ShiftlakeError
        As :func:`ops.inference.evaluate`, after everything before the fault is published.
    """
    spaces, on_gpu = job.catalog.label_spaces, job.numerics.device == "cuda"
    maker = RowMaker(job.key, job.entry, job.manifest, projection(job.entry, job.manifest, spaces))
    with ExitStack() as stack:
        stack.enter_context(reproducible(job.numerics))
        forward = (kept or Kept()).forward(job)
        given = open_input(
            job.root, job.catalog, job.manifest, job.entry.transform, job.numerics, workers
        )
        computing = stack.enter_context(open_computing(given, forward, job.batch_size))
        source = batches(
            shards,
            given,
            batch_size=max(1, job.batch_size // (frames(job.manifest) or 1)),
            workers=workers,
            pinned=on_gpu,
        )
        stack.enter_context(closing(source))
        writing = ThreadPoolExecutor(1, thread_name_prefix="rows")
        stack.callback(writing.shutdown, wait=True, cancel_futures=True)
        shard_rows = _ShardRows(job, maker)
        waiting: deque[Future[Step]] = deque()
        fault: Exception | None = None
        try:
            for item in source:
                if isinstance(item, Batch):
                    rows = computing.rows(item.samples, item.pixels)
                    with _blamed(job, item):
                        outputs = computing.start(rows)
                    waiting.append(writing.submit(shard_rows.add, item, outputs))
                else:
                    waiting.append(writing.submit(shard_rows.publish, item))
                while len(waiting) > computing.ahead:
                    # It stays the first if it failed, so that nothing after it is told instead.
                    yield waiting[0].result()
                    waiting.popleft()
        except Exception as error:
            fault = error
        # What came before a fault is finished first, and is told first if it failed.
        while waiting:
            yield waiting.popleft().result()
        if fault is not None:
            raise fault
        kind = job.numerics.device
        yield Used(device_name(kind), versions(kind, job.entry.kind), forward.images)


class _ShardRows:
    """The rows of the shard that is being computed; one thread calls its methods in turn."""

    def __init__(self, job: Job, maker: RowMaker) -> None:
        self._job, self._maker = job, maker
        self._rows: list[pa.RecordBatch] = []
        self._logits: list[pa.RecordBatch] = []

    def add(self, batch: Batch, outputs: Outputs) -> Step:
        """Wait for a batch and make its rows."""
        with _blamed(self._job, batch):
            logits = outputs()
        rows = self._maker.rows(batch, logits)
        self._rows.append(rows)
        if self._job.logits:
            self._logits.append(logit_rows(rows, logits))
        return int(rows.num_rows)

    def publish(self, shard: ShardEntry) -> Step:
        """Store what was made since the last shard."""
        job, rows = self._job, self._rows
        logits = self._logits if job.logits else None
        self._rows, self._logits = [], []
        return shard.name, finish(job.root, job.folder, job.key, job.manifest, shard, rows, logits)


def _blamed(job: Job, batch: Batch) -> AbstractContextManager[None]:
    return blamed_on_model(job.entry.name, batch.shard.name, batch.samples[0].key)
