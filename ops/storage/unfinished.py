"""Files still being written: held by a lock while their writer lives, swept once it is dead.

A process number would not do: on a shared disk the writer may live on another machine, or in
another container that numbers its processes alike.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

_GRACE_SECONDS = 60.0


@contextmanager
def held(path: Path) -> Iterator[BinaryIO]:
    """Make a file that nobody sweeps while the block runs.

    The name is gone at the end of the block, unless the block has renamed the file; a writer that
    is killed leaves it for :func:`sweep`.

    Yields
    ------
    BinaryIO
        The empty file, open for writing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield cast(BinaryIO, file)
    finally:
        path.unlink(missing_ok=True)


def sweep(folder: Path, pattern: str) -> None:
    """Remove the files of a folder that a dead writer left behind."""
    for path in folder.glob(pattern):
        try:
            # A new file is not locked in the moment between its making and its locking.
            if time.time() - path.stat().st_mtime < _GRACE_SECONDS:
                continue
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
        except (BlockingIOError, FileNotFoundError, PermissionError):
            continue
