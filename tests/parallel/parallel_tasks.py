"""Tasks for worker processes, which import them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from ops.errors import ShiftlakeError
from ops.parallel import map_shards


def square(number: int) -> int:
    return number * number


def where(_: int) -> tuple[int, str]:
    time.sleep(0.01)
    return os.getpid(), os.environ.get("MADE_BY", "")


def refuse_five(number: int) -> int:
    if number == 5:
        raise ShiftlakeError("Five.", expected=4, found=5, where="task 5", remedy="leave it out")
    return number


def wait_then_raise(task: tuple[Path, float]) -> None:
    done, seconds = task
    if seconds < 0:
        raise ValueError("at once")
    time.sleep(seconds)
    done.touch()


def leave_at_three(number: int) -> int:
    if number == 3:
        os._exit(7)
    time.sleep(0.02)
    return number


def killed_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def note_and_wait(path: Path) -> None:
    path.write_text(str(os.getpid()))
    time.sleep(60)


if __name__ == "__main__":
    import sys

    for _ in map_shards(note_and_wait, [Path(name) for name in sys.argv[1:]], workers=2):
        pass
