"""`map_shards` on one machine: a pool of processes that dies with its parent, or of threads.

Callers hand over one task per shard and take results as they finish. Nothing here knows what a
shard is; a cluster backend would keep this signature.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from ops.errors import ShiftlakeError

Task = TypeVar("Task")
Result = TypeVar("Result")


def usable_cpus() -> int:
    """Number of CPUs this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_shards(
    fn: Callable[[Task], Result],
    shards: Sequence[Task],
    *,
    workers: int | None = None,
    threads: bool = False,
) -> Iterator[tuple[int, Result]]:
    """Run `fn` on every shard task, in parallel, each exactly once.

    Parameters
    ----------
    fn : callable
        A picklable function of one task.
    shards : sequence
        The tasks; each should take about a second or more, so that handing it over costs nothing.
    workers : int, optional
        Number of workers; the usable CPUs by default. With 1, or one task, the work runs in
        this process.
    threads : bool
        Threads of this process instead of processes: they start at once, and suit tasks that
        read, hash and write outside the interpreter's lock.

    Yields
    ------
    (int, result)
        Position of the task in `shards` and what `fn` returned, in order of completion.

    Raises
    ------
    ShiftlakeError
        If a worker process dies; the message says which tasks were in flight. An exception
        raised by `fn` is raised here unchanged, after the running tasks have ended.
    """
    count = max(1, min(workers or usable_cpus(), len(shards)))
    if count == 1:
        for position, task in enumerate(shards):
            yield position, fn(task)
        return
    with _pool(count, threads, getattr(fn, "__module__", __name__)) as pool:
        running: dict[Future[Result], int] = {}
        try:
            # A window of two tasks a worker keeps everyone busy without pickling all tasks at once.
            for position, task in enumerate(shards):
                running[pool.submit(fn, task)] = position
                if len(running) < 2 * count:
                    continue
                yield from _finished(running)
            while running:
                yield from _finished(running)
        except BrokenProcessPool as error:
            raise ShiftlakeError(
                "A worker process died.",
                expected="every worker to finish its shard",
                found="a worker that was killed, most often for want of memory",
                where=f"tasks in flight: {sorted(running.values())}",
                remedy="run again (finished shards stay), with fewer workers if memory is short",
            ) from error
        finally:
            for future in running:
                future.cancel()


def _pool(count: int, threads: bool, module: str) -> Executor:
    if threads:
        return ThreadPoolExecutor(count, thread_name_prefix="shard")
    # Not "fork": the parent may hold threads and locks (Dagster, torch, gRPC) that a forked
    # child would inherit in an unknown state.
    context = multiprocessing.get_context("forkserver")
    # Imported once by the server the workers are forked from, and not again by each of them.
    context.set_forkserver_preload(["__main__", module])
    return ProcessPoolExecutor(count, mp_context=context, initializer=_die_with_parent)


def _finished(running: dict[Future[Result], int]) -> Iterator[tuple[int, Result]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in sorted(done, key=running.__getitem__):
        position = running[future]
        result = future.result()
        del running[future]
        yield position, result


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()

    def watch() -> None:
        # A killed parent cannot close the pool, and idle workers would wait for ever.
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
