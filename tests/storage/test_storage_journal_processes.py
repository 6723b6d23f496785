"""Processes that write to one journal at once, and that are killed while they do."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ops.storage import Root, open_root
from ops.storage.journal import Journal

FOLDER = "video/things/reviews/0123456789abcdef"


@pytest.fixture
def local(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Root]:
    """Where waiting for the disk takes no time: a kill does not lose what the system has."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield open_root(folder)


def files(root: Root) -> list[Path]:
    return sorted(root.local_path(FOLDER).glob("*.jsonl"))


def numbers(records: list[dict[str, Any]]) -> list[int]:
    return [record["n"] for record in records]


def in_a_child(work: Callable[[], None]) -> int:
    """Run `work` in a process of its own, and return its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def test_processes_write_at_once_and_are_read_at_once(local: Root) -> None:
    before = Journal(local, FOLDER)
    before.append([{"n": -1}])

    def add(first: int) -> None:
        # The parent's journal, carried over the fork, must not continue the parent's file.
        for n in range(first, first + 100):
            before.append([{"n": n}])

    children = [in_a_child(lambda first=first: add(first)) for first in (0, 100)]
    reader, seen = Journal(local, FOLDER), []
    while len(seen) < 201:
        seen += numbers(reader.read_new())
    for child in children:
        os.waitpid(child, 0)
    assert sorted(seen) == list(range(-1, 200))
    assert len(files(local)) == 3


def test_what_was_acknowledged_survives_kill_9(in_memory: Root) -> None:
    draw = random.Random(7)
    acknowledged: set[int] = set()
    tried = 0
    for _ in range(200):
        read_end, write_end = os.pipe()

        def work(first: int = tried, out: int = write_end) -> None:
            journal = Journal(in_memory, FOLDER)
            for n in range(first, first + 1_000):
                journal.append([{"n": n, "note": "x" * draw.randrange(200)}])
                os.write(out, b"%d\n" % n)

        child = in_a_child(work)
        os.close(write_end)
        os.read(read_end, 1)
        time.sleep(draw.random() * 0.004)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(read_end, "rb") as pipe:
            told = pipe.read()
        # The first byte was read above to know that it runs; its line is the first number.
        lines = told.split(b"\n")[1:-1]
        acknowledged |= {tried} | {int(line) for line in lines}
        tried += 1_000
    found = numbers(Journal(in_memory, FOLDER).read())
    assert acknowledged <= set(found)
    assert len(found) == len(set(found))
    # A process may die between writing and answering, once each.
    assert len(found) - len(acknowledged) <= 200
    assert len(acknowledged) > 200
