"""The input side: samples of many shards decoded by threads into batches of pixels.

Threads, not processes: decoding and resizing run without the interpreter lock, so threads scale
as processes do and nothing has to be copied between them. Pixels stay 8-bit until they are on the
device, a quarter of the bytes of the usual float batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from ops.inference.preprocess import prepare
from ops.models.transform import Transform
from ops.shards import Sample, ShardEntry

IN_FLIGHT = 3
_TASK_IMAGES = 4
_KEPT_BLOCKS = 8


@dataclass
class Batch:
    """Consecutive samples of one shard.

    `pixels` is uint8 of shape (samples, height, width, 3); where `errors` has a reason, the image
    is black. It keeps its place, so that the composition of a batch depends on nothing but the
    shard and the batch size.
    """

    shard: ShardEntry
    samples: list[Sample]
    pixels: torch.Tensor
    errors: list[str | None] = field(default_factory=list)


def batches(
    shards: Iterable[ShardEntry],
    read: Callable[[ShardEntry], Iterator[Sample]],
    transform: Transform,
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
    read : callable
        Gives the samples of a shard.
    transform : Transform
        Resize and crop; its output size is the size of every image.
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
        source = _read_all(shards, read, transform.output_size, batch_size, pinned)
        try:
            while True:
                while len(waiting) < IN_FLIGHT and (item := next(source, None)) is not None:
                    tasks = _submit(pool, item, transform) if isinstance(item, Batch) else []
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
    shards: Iterable[ShardEntry],
    read: Callable[[ShardEntry], Iterator[Sample]],
    size: tuple[int, int],
    batch_size: int,
    pinned: bool,
) -> Iterator[Batch | ShardEntry | Exception]:
    try:
        for shard in shards:
            samples = read(shard)
            while chunk := list(islice(samples, batch_size)):
                shape = (len(chunk), *size, 3)
                pixels = torch.empty(shape, dtype=torch.uint8, pin_memory=pinned)
                yield Batch(shard, chunk, pixels)
            yield shard
    except Exception as error:  # handed on, so that the shards before it are finished first
        yield error


def _submit(
    pool: ThreadPoolExecutor, batch: Batch, transform: Transform
) -> list[Future[list[str | None]]]:
    pixels = batch.pixels.numpy()
    # A few images a task: handing one over costs as much as a tenth of a decode.
    return [
        pool.submit(
            _prepare_some,
            batch.samples[start : start + _TASK_IMAGES],
            transform,
            pixels[start : start + _TASK_IMAGES],
        )
        for start in range(0, len(batch.samples), _TASK_IMAGES)
    ]


def _prepare_some(
    samples: list[Sample], transform: Transform, out: npt.NDArray[np.uint8]
) -> list[str | None]:
    return [
        prepare(sample.image, transform, place) for sample, place in zip(samples, out, strict=True)
    ]
