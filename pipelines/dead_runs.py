"""Runs of this command line whose process was killed: close them, and give their slots back.

Dagster's daemon watches the runs it launched itself. A run made in a process of its own that is
killed stays "started" for ever, and keeps the pool slots it held; the next run would wait for them.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import dagster as dg

TAG = "shiftlake/process"


def process_tag() -> dict[str, str]:
    """Run tag that says which process a run lives in: host, pid and the process's start."""
    return {TAG: f"{socket.gethostname()} {os.getpid()} {_started(os.getpid())}"}


def close_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs as failed whose process is gone, and free their slots.

    Returns
    -------
    list of str
        Ids of the runs.
    """
    closed = []
    unfinished = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING]
    for run in instance.get_runs(dg.RunsFilter(statuses=unfinished)):
        host, _, process = run.tags.get(TAG, "").partition(" ")
        if host != socket.gethostname() or _alive(process):
            continue
        instance.report_run_failed(run, "The process of this run was killed.")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        closed.append(run.run_id)
    return closed


def _alive(process: str) -> bool:
    pid, _, started = process.partition(" ")
    return pid.isdigit() and _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process began, in clock ticks since boot; empty if it is gone.

    A pid alone may by now belong to another process.
    """
    if not Path("/proc/self").exists():
        # Without /proc (macOS) the pid has to do.
        return "running" if _exists(pid) else ""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
