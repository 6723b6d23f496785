"""Batches under way on a device: handed over at once, their logits fetched when they are wanted.

On a CPU a batch is cut into passes of a few images, and each pass is one thread's. The activations
of a few images stay in the caches, no thread waits for another at every layer while the decoding
threads have its core, and the bits of a result do not depend on the number of cores. On a GPU a
batch is one pass; the pixels of the next are copied there meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from contextvars import copy_context
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import torch

from ops.inference.failure import OutOfMemory, short_of_memory
from ops.inference.forward import Forward
from ops.inference.inputs import Input
from ops.inference.scores import Logits
from ops.shards import Sample

# A pass on a CPU. Of 64 images ResNet-18 takes a fifth more time for each, of 2 a quarter more.
HOST_IMAGES = 8

# Waits until the logits of a batch are there: float32 of shape (rows, outputs).
Outputs = Callable[[], Logits]


class Computing(Protocol):
    """Where batches are computed."""

    @property
    def ahead(self) -> int:
        """Batches to have under way, so that the device always has one waiting."""

    def rows(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The rows' pixels of a batch as `Input.prepare` wrote it, where they are wanted.

        The model has no part in what goes wrong here.
        """

    def start(self, rows: torch.Tensor) -> Outputs:
        """Hand the rows' pixels over to the model.

        What goes wrong is raised here or by the function that is returned.
        """

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Drop what is not computed yet, and end the threads."""


def open_computing(given: Input, forward: Forward, batch_size: int) -> Computing:
    """Batches on the device of a forward pass.

    Parameters
    ----------
    given : Input
        Its `finish` turns a batch as prepared into rows of pixels.
    forward : Forward
    batch_size : int
        Rows of a batch, about.
    """
    if forward.device.type == "cuda":
        return OnGpu(given, forward)
    return OnHost(given, forward, batch_size)


class OnHost:
    """Passes side by side on the CPU, one thread each; as many as torch may use.

    Parameters
    ----------
    given : Input
    forward : Forward
        Called by several threads at once.
    batch_size : int
    """

    def __init__(self, given: Input, forward: Forward, batch_size: int) -> None:
        self._given, self._forward = given, forward
        self._threads = torch.get_num_threads()
        passes = -(-batch_size // HOST_IMAGES)
        self.ahead = max(2, -(-2 * self._threads // passes))
        self._alone = True

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(
            self._threads,
            thread_name_prefix="forward",
            # Of the thread alone, and of threads that are started later.
            initializer=torch.set_num_threads,
            initargs=(1,),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        torch.set_num_threads(self._threads)

    def rows(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """What the threads made, as it is."""
        return finished(self._given, samples, pixels)

    def start(self, rows: torch.Tensor) -> Outputs:
        """Hand a batch over to the threads."""
        passes = torch.split(rows, HOST_IMAGES)
        tasks = []
        for part in passes:
            # The compiler's settings are a thread's own, unless it is given those of this one.
            tasks.append(self._pool.submit(copy_context().run, self._forward, part))
            if self._alone:
                # What a network or the compiler makes at the first pass, it makes once.
                tasks[0].result()
                self._alone = False
        return lambda: np.concatenate([task.result().numpy() for task in tasks])


class OnGpu:
    """Batches one after the other on a GPU, copies to and from it beside the computation.

    Copies have a stream of their own, and who asks for one waits for it: a millisecond or two,
    while the device has other batches in line. So no buffer is ever given back with a copy or a
    stream still bound to it. Torch's allocators would then make an event as they take it back,
    which after a fault of the device ends the process in place of an error that can be told.

    Parameters
    ----------
    given : Input
    forward : Forward
    """

    # One is computed, one is copied, and the rows of the others are made.
    ahead = 4

    def __init__(self, given: Input, forward: Forward) -> None:
        self._given, self._forward = given, forward
        self._copies = torch.cuda.Stream(forward.device)  # type: ignore[no-untyped-call]
        self._moved: torch.Tensor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A fault of the GPU is raised again by everything that comes after: the first is told.
        with nullcontext() if kind is None else suppress(Exception):
            torch.cuda.synchronize(self._forward.device)

    def rows(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """Copy the pixels and put rendering in line."""
        try:
            with torch.cuda.stream(self._copies):
                moved = pixels.to(self._forward.device)
        except torch.OutOfMemoryError:
            # Where there is no room for all of them, the halves of a batch bring their own.
            moved = pixels
        self._moved = moved
        return finished(self._given, samples, moved)

    def start(self, rows: torch.Tensor) -> Outputs:
        """Put the computation in line; nothing is waited for."""
        moved, self._moved = self._moved, None
        logits = self._forward(rows)
        # Blocking: a thread that waits otherwise keeps a core busy, which decoding could use.
        done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        done.record(torch.cuda.current_stream(self._forward.device))

        def outputs() -> Logits:
            nonlocal moved
            # Of this batch alone: those behind it go on.
            done.synchronize()
            # Not before: the other stream, which its memory belongs to, knows of no computation.
            moved = None
            with torch.cuda.stream(self._copies):
                found: Logits = logits.cpu().numpy()
            return found

        return outputs


def finished(given: Input, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
    """The rows' pixels of a batch, in halves where the device has no memory to make them at once.

    Parameters
    ----------
    given : Input
    samples : list of Sample
    pixels : uint8 tensor
        As `Input.prepare` wrote them, one place a sample.

    Returns
    -------
    uint8 tensor, shape (rows, height, width, 3)

    Raises
    ------
    OutOfMemory
        If there is no memory for a single sample.
    """
    try:
        return given.finish(samples, pixels)
    except (RuntimeError, MemoryError) as error:
        if not short_of_memory(error):
            raise
        if len(samples) <= 1:
            raise OutOfMemory(
                "A sample cannot be rendered in the device's memory.",
                expected="memory for one sample",
                found=str(error).splitlines()[0] if str(error) else type(error).__name__,
                where=f"{samples[0].key if samples else 'no sample'} on {pixels.device}",
                remedy="free the device, use a larger one, or evaluate on a CPU",
            ) from error
    # Outside the except block, whose traceback would keep what was begun alive.
    if pixels.device.type == "cuda":
        torch.cuda.empty_cache()
    half = (len(samples) + 1) // 2
    return torch.cat(
        [
            finished(given, samples[:half], pixels[:half]),
            finished(given, samples[half:], pixels[half:]),
        ]
    )
