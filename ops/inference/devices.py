"""Several devices of one machine: a process for each, all taking shards from one list.

Nothing in a row depends on which device computed it or how many there are: batches never hold
samples of two shards, and each shard is one device's work from reading to publishing.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized
from typing import Literal

import torch

from ops.errors import ShiftlakeError
from ops.inference.failure import (
    ModelFailed,
    OutOfMemory,
    Unexpected,
    as_error,
    short_of_memory,
)
from ops.inference.job import Job
from ops.inference.working import Step, work
from ops.shards import ShardEntry

_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class _Assignment:
    """What one process is given beside the list of shards."""

    job: Job
    shards: tuple[ShardEntry, ...]
    device: str
    workers: int
    threads: int


def check_devices(devices: Sequence[str]) -> Literal["cpu", "cuda"]:
    """The kind that all of the devices are of.

    Parameters
    ----------
    devices : sequence of str
        ``cpu``, as often as there are to be processes, or ``cuda:0``, ``cuda:1`` and so on.

    Raises
    ------
    ShiftlakeError
        If there is none, a name is no device, a GPU is not there, or they are of two kinds: their
        last bits differ.
    """
    kinds = {name.partition(":")[0] for name in devices}
    named = all(re.fullmatch(r"cpu|cuda:\d+", name) for name in devices)
    if kinds == {"cpu"} and named:
        return "cpu"
    if kinds == {"cuda"} and named:
        # Where there is none at all, that is said by who plans the numerics.
        there = torch.cuda.device_count()
        missing = [name for name in devices if int(name.partition(":")[2]) >= there]
        if there and missing:
            raise ShiftlakeError(
                "There is no such GPU here.",
                expected=f"cuda:0 to cuda:{there - 1}" if there > 1 else "cuda:0",
                found=", ".join(missing),
                where="devices",
                remedy="name GPUs that are there; CUDA_VISIBLE_DEVICES may hide some",
            )
        return "cuda"
    raise ShiftlakeError(
        "These are no devices for one evaluation.",
        expected="auto, cpu or cuda alone; or several of cuda:0, cuda:1 and so on",
        found=", ".join(devices) or "none",
        where="devices",
        remedy="name devices of one kind; a GPU by its number",
    )


def work_on(
    devices: Sequence[str], job: Job, shards: Sequence[ShardEntry], workers: int
) -> Generator[Step]:
    """Evaluate shards on several devices.

    Parameters
    ----------
    devices : sequence of str
        As :func:`check_devices` takes them.
    job : Job
    shards : sequence of ShardEntry
    workers : int
        Decoding threads of all processes together; each has one at least.

    Yields
    ------
    int or (str, Finished) or Used
        As :func:`ops.inference.working.work`, in the order in which they happen.

    Raises
    ------
    ShiftlakeError
        The first that a process met, after the others have published the shards they had begun;
        or if a process died.
    """
    context = multiprocessing.get_context("forkserver")
    # Imported once for all of them; decoding would import the second in each.
    context.set_forkserver_preload(["__main__", __name__, "ops.pixels.resample"])
    taken = context.Value("q", 0)
    count = len(devices)
    running: dict[Connection, BaseProcess] = {}
    try:
        for device in devices:
            assignment = _Assignment(
                job,
                tuple(shards),
                device,
                workers=max(1, workers // count),
                threads=max(1, torch.get_num_threads() // count),
            )
            here, there = context.Pipe(duplex=False)
            process: BaseProcess = context.Process(
                target=_run, args=(assignment, taken, there), name=f"evaluate on {device}"
            )
            process.start()
            # Else the end of the process would not be the end of what it sends.
            there.close()
            running[here] = process
        yield from _steps(running, taken, len(shards))
    finally:
        for connection, process in running.items():
            connection.close()
            if process.is_alive():
                process.terminate()
            process.join()


def _steps(
    running: dict[Connection, BaseProcess],
    taken: Synchronized[int],
    total: int,
) -> Iterator[Step]:
    talking = set(running)
    fault: tuple[ShiftlakeError, bool] | None = None
    while talking:
        for connection in wait(talking):
            assert isinstance(connection, Connection)
            try:
                message = connection.recv()
            except EOFError:
                raise _died(running[connection]) from None
            if message is None:
                talking.remove(connection)
            elif isinstance(message, _Fault):
                talking.remove(connection)
                fault = fault or (message.error, message.memory)
                with taken.get_lock():
                    taken.value = total
            else:
                yield message
    if fault is not None:
        error, memory = fault
        # What was raised over there stays there; whether memory was short must be known here.
        raise error from (MemoryError() if memory else None)


@dataclass(frozen=True)
class _Fault:
    """What ended a process."""

    error: ShiftlakeError
    memory: bool

    @classmethod
    def of(cls, error: Exception, where: str) -> _Fault:
        """The fault in words: what an error is made of may not survive the way to a process."""
        told = as_error(error, where)
        kinds = (OutOfMemory, ModelFailed, Unexpected, ShiftlakeError)
        kind = next(kind for kind in kinds if isinstance(told, kind))
        said = kind(
            str(told.what),
            expected=str(told.expected),
            found=str(told.found),
            where=str(told.where),
            remedy=str(told.remedy),
        )
        return cls(said, short_of_memory(error))


class _Unheard(Exception):
    """The process that asked is gone."""


def _run(assignment: _Assignment, taken: Synchronized[int], out: Connection) -> None:
    # Ctrl-C reaches all processes of a terminal; the one that was asked ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(_Unheard):
        try:
            _use(assignment)
            steps = work(assignment.job, _claimed(assignment.shards, taken), assignment.workers)
            with closing(steps):
                for step in steps:
                    _tell(out, step)
            _tell(out, None)
        except _Unheard:
            raise
        except Exception as error:
            _tell(out, _Fault.of(error, assignment.device))


def _use(assignment: _Assignment) -> None:
    kind, _, index = assignment.device.partition(":")
    if kind == "cuda":
        # Every thread of this process then sees one GPU, and none begins to use another.
        every = [name.strip() for name in os.environ.get(_VISIBLE, "").split(",") if name.strip()]
        os.environ[_VISIBLE] = every[int(index)] if every else index
    torch.set_num_threads(assignment.threads)


def _tell(out: Connection, message: Step | _Fault | None) -> None:
    try:
        out.send(message)
    except BrokenPipeError:
        raise _Unheard from None


def _claimed(shards: Sequence[ShardEntry], taken: Synchronized[int]) -> Iterator[ShardEntry]:
    while True:
        with taken.get_lock():
            position = taken.value
            taken.value = position + 1
        if position >= len(shards):
            return
        yield shards[position]


def _died(process: BaseProcess) -> ShiftlakeError:
    process.join()
    return ShiftlakeError(
        "A process of the evaluation died.",
        expected="every device to finish its shards",
        found=f"exit code {process.exitcode}, most often for want of memory",
        where=process.name,
        remedy="evaluate again: finished shards stay; with fewer devices if memory is short",
    )
