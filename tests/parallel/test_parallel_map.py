"""Every task once, errors as they are, and no worker that outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import parallel_tasks as tasks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.parallel import map_shards, usable_cpus

KINDS = [(1, False), (2, False), (3, True)]


@pytest.mark.parametrize(("workers", "threads"), KINDS)
@pytest.mark.parametrize("count", [0, 1, 2, 23])
def test_every_task_once(workers: int, threads: bool, count: int) -> None:
    found = list(map_shards(tasks.square, range(count), workers=workers, threads=threads))
    assert sorted(found) == [(number, number * number) for number in range(count)]


@settings(max_examples=30, deadline=None)
@given(numbers=st.lists(st.integers(), max_size=30), workers=st.integers(1, 6))
def test_every_task_once_whatever_the_workers(numbers: list[int], workers: int) -> None:
    found = dict(map_shards(tasks.square, numbers, workers=workers, threads=True))
    assert found == {at: number * number for at, number in enumerate(numbers)}


def test_work_is_done_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADE_BY", "this test")
    own = os.getpid()
    assert {pid for _, (pid, _) in map_shards(tasks.where, range(4), workers=1)} == {own}
    assert {pid for _, (pid, _) in map_shards(tasks.where, range(4), threads=True)} == {own}
    others = {pid for _, (pid, _) in map_shards(tasks.where, range(12), workers=2)}
    assert own not in others
    assert len(others) == 2
    assert usable_cpus() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("workers", "threads"), KINDS)
def test_an_error_arrives_as_it_was_raised(workers: int, threads: bool) -> None:
    seen: list[int] = []
    results = map_shards(tasks.refuse_five, range(12), workers=workers, threads=threads)
    with pytest.raises(ShiftlakeError) as caught:
        seen.extend(result for _, result in results)
    assert (caught.value.expected, caught.value.found) == (4, 5)
    assert caught.value.remedy == "leave it out"
    assert 5 not in seen
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("threads", [False, True])
def test_what_runs_is_finished_before_the_error_is_raised(tmp_path: Path, threads: bool) -> None:
    running, waiting = tmp_path / "running", tmp_path / "waiting"
    todo = [(running, 0.4), (running, -1.0), *[(waiting, 0.0)] * 20]
    with pytest.raises(ValueError, match="at once"):
        list(map_shards(tasks.wait_then_raise, todo, workers=2, threads=threads))
    assert running.exists()


@pytest.mark.parametrize("fatal", [tasks.leave_at_three, tasks.killed_at_three])
def test_a_dead_worker_is_told_with_its_tasks(fatal: Callable[[int], int]) -> None:
    seen: list[int] = []
    results = map_shards(fatal, range(20), workers=2)
    with pytest.raises(ShiftlakeError, match="worker process died") as caught:
        seen.extend(position for position, _ in results)
    assert "3" in str(caught.value.where)
    assert 3 not in seen
    assert "again" in caught.value.remedy


def test_leaving_early_ends_the_workers() -> None:
    results = map_shards(tasks.square, range(1000), workers=3, threads=True)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert not [each for each in threading.enumerate() if each.name.startswith("shard")]


def test_workers_die_with_a_killed_parent(tmp_path: Path) -> None:
    notes = [tmp_path / "first", tmp_path / "second"]
    # Its orphaned resource tracker would complain on our terminal.
    parent = subprocess.Popen(
        [sys.executable, tasks.__file__, *map(str, notes)], stderr=subprocess.DEVNULL
    )
    pids = [int(_content(note)) for note in notes]
    assert all(_alive(pid) for pid in pids)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 10
    while any(_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_alive(pid) for pid in pids)


def _content(note: Path) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if note.exists() and (text := note.read_text()):
            return text
        time.sleep(0.02)
    raise AssertionError("the workers did not start")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
