"""The input side: shards read by one thread, decoded by others into batches of pixels.

Threads, not processes: decoding and resizing run without the interpreter lock, so threads scale
as processes do and nothing has to be copied between them. Pixels stay 8-bit until they are on the
device, a quarter of the bytes of the usual float batch.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, Queue

import torch
from PIL import Image

from ops.inference.inputs import Input, Pixels
from ops.shards import Sample, ShardEntry

IN_FLIGHT = 3
_KEPT_BLOCKS = 8


@dataclass
class Batch:
    """Consecutive samples of one shard.

    `pixels` is uint8 of shape (samples, height, width, 3), with the frames of sequences as a
    second axis; where `errors` has a reason, the sample is black. It keeps its place, so that the
    composition of a batch depends on nothing but the shard and the batch size.
    """

    shard: ShardEntry
    samples: list[Sample]
    pixels: torch.Tensor
    errors: list[str | None] = field(default_factory=list)


# A batch with the tasks that fill it, the end of a shard, what went wrong, or the end.
_Ready = tuple[Batch | ShardEntry | Exception | None, list[Future[list[str | None]]]]


def batches(
    shards: Iterable[ShardEntry],
    given: Input,
    *,
    batch_size: int,
    workers: int,
    pinned: bool = False,
) -> Generator[Batch | ShardEntry]:
    """Decode shards in order, ahead of the consumer.

    Parameters
    ----------
    shards : iterable of ShardEntry
        In the order to yield them.
    given : Input
        Reads the samples of a shard, and makes pixels of them.
    batch_size : int
        Samples in a batch; the last one of a shard may be smaller, none holds two shards.
    workers : int
        Threads.
    pinned : bool
        Whether to put pixels into page-locked memory, for fast copies to a GPU.

    Yields
    ------
    Batch or ShardEntry
        The batches of a shard, then the shard itself, which ends it. An error met while reading
        is raised in its place, after everything before it.
    """
    # Pillow gives an image's memory back at once; new pages for the next cost a twentieth of it.
    Image.core.set_blocks_max(max(Image.core.get_blocks_max(), _KEPT_BLOCKS * workers))  # type: ignore[attr-defined]
    # Every thread has something to do, and another thing waiting.
    tasks_each = math.ceil(batch_size / given.samples_per_task)
    ready: Queue[_Ready] = Queue(max(IN_FLIGHT, math.ceil(2 * workers / tasks_each)))
    stopped = threading.Event()
    with ThreadPoolExecutor(workers, thread_name_prefix="decode") as pool:

        def read() -> None:
            try:
                for item in _read_all(shards, given, batch_size, pinned):
                    tasks = _submit(pool, item, given) if isinstance(item, Batch) else []
                    ready.put((item, tasks))
                    if stopped.is_set():
                        return
            except Exception as error:  # handed on, so that what lies before it comes first
                ready.put((error, []))
            ready.put((None, []))

        reading = threading.Thread(target=read, name="read", daemon=True)
        reading.start()
        try:
            while True:
                item, tasks = ready.get()
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Batch):
                    item.errors = [reason for task in tasks for reason in task.result()]
                yield item
        finally:
            stopped.set()
            # First it may still wait for room, then it sees that nobody takes anything more.
            while reading.is_alive():
                _drop(ready)
                reading.join(0.01)
            _drop(ready)


def _drop(ready: Queue[_Ready]) -> None:
    with suppress(Empty):
        while True:
            for task in ready.get_nowait()[1]:
                task.cancel()


def _read_all(
    shards: Iterable[ShardEntry], given: Input, batch_size: int, pinned: bool
) -> Iterator[Batch | ShardEntry]:
    for shard in shards:
        samples = given.read(shard)
        while chunk := list(islice(samples, batch_size)):
            shape = (len(chunk), *given.shape)
            yield Batch(shard, chunk, torch.empty(shape, dtype=torch.uint8, pin_memory=pinned))
        yield shard


def _submit(pool: ThreadPoolExecutor, batch: Batch, given: Input) -> list[Future[list[str | None]]]:
    pixels, some = batch.pixels.numpy(), given.samples_per_task
    return [
        pool.submit(
            _prepare_some,
            given,
            batch.samples[start : start + some],
            pixels[start : start + some],
        )
        for start in range(0, len(batch.samples), some)
    ]


def _prepare_some(given: Input, samples: list[Sample], out: Pixels) -> list[str | None]:
    return [given.prepare(sample, place) for sample, place in zip(samples, out, strict=True)]
