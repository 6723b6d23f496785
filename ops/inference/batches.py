"""The input side: samples of many shards decoded by threads into batches of pixels.

Threads, not processes: decoding and resizing run without the interpreter lock, so threads scale
as processes do and nothing has to be copied between them. Pixels stay 8-bit until they are on the
device, a quarter of the bytes of the usual float batch.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

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


def batches(
    shards: Iterable[ShardEntry],
    given: Input,
    *,
    batch_size: int,
    workers: int,
    pinned: bool = False,
) -> Iterator[Batch | ShardEntry]:
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
    with ThreadPoolExecutor(workers, thread_name_prefix="decode") as pool:
        waiting: deque[tuple[Batch | ShardEntry | Exception, list[Future[list[str | None]]]]] = (
            deque()
        )
        source = _read_all(shards, given, batch_size, pinned)
        # Every thread has something to do, and another thing waiting.
        tasks_each = math.ceil(batch_size / given.samples_per_task)
        ahead = max(IN_FLIGHT, math.ceil(2 * workers / tasks_each))
        try:
            while True:
                while len(waiting) < ahead and (item := next(source, None)) is not None:
                    tasks = _submit(pool, item, given) if isinstance(item, Batch) else []
                    waiting.append((item, tasks))
                if not waiting:
                    return
                item, tasks = waiting.popleft()
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Batch):
                    item.errors = [reason for task in tasks for reason in task.result()]
                yield item
        finally:
            for _, tasks in waiting:
                for task in tasks:
                    task.cancel()


def _read_all(
    shards: Iterable[ShardEntry], given: Input, batch_size: int, pinned: bool
) -> Iterator[Batch | ShardEntry | Exception]:
    try:
        for shard in shards:
            samples = given.read(shard)
            while chunk := list(islice(samples, batch_size)):
                shape = (len(chunk), *given.shape)
                pixels = torch.empty(shape, dtype=torch.uint8, pin_memory=pinned)
                yield Batch(shard, chunk, pixels)
            yield shard
    except Exception as error:  # handed on, so that the shards before it are finished first
        yield error


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
