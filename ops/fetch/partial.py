"""The unfinished download in scratch: its bytes, and the note that lets another process go on.

Named by the file it becomes and not by a URL, so that another mirror can continue it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ops.catalog import SourceFile

# Below the kernel's limit of buffers in one call (IOV_MAX, 1024 on Linux).
_MAX_BUFFERS = 512


class Partial:
    """A file being downloaded.

    Parameters
    ----------
    folder : Path
        Where unfinished downloads lie.
    file : SourceFile

    Attributes
    ----------
    path : Path
        The bytes so far.
    joined : bool
        Whether the bytes come from more than one request, so that a wrong hash may be the
        fault of the joint and not of the source.
    """

    def __init__(self, folder: Path, file: SourceFile) -> None:
        stem = identity(file)
        self.path = folder / f"{stem}.part"
        self.aside = folder / f"{stem}.aside"
        self._note = folder / f"{stem}.state.json"
        self.joined = False
        self.url: str | None = None
        self.validator: str | None = None
        self.total: int | None = None
        self._fd = -1
        self._recall()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def is_complete(self) -> bool:
        """Whether all bytes are here already."""
        return self.total is not None and 0 < self.size == self.total

    def restart(self, url: str, validator: str | None, total: int | None) -> None:
        """Empty the file and note what is about to come, in that order."""
        self.close()
        self.path.unlink(missing_ok=True)
        self.url, self.validator, self.total, self.joined = url, validator, total, False
        state = json.dumps({"url": url, "validator": validator, "total": total})
        fresh = self._note.with_suffix(".new")
        fresh.write_text(state)
        fresh.replace(self._note)

    def append(self, pieces: list[bytes]) -> None:
        """Write `pieces` at the end, with no copy in between."""
        if self._fd < 0:
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        waiting = pieces
        while waiting:
            written = os.writev(self._fd, waiting[:_MAX_BUFFERS])
            waiting = _after(waiting, written)

    def sync(self) -> None:
        """Bring the bytes to the disk: what a receipt confirms has to survive a power cut."""
        with self.path.open("ab") as file:
            os.fsync(file.fileno())

    def close(self) -> None:
        """Close the file; the bytes stay."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def discard(self) -> None:
        """Forget everything downloaded."""
        self.close()
        self.path.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Remove the note; the bytes were published or removed."""
        self._note.unlink(missing_ok=True)
        self.url = self.validator = self.total = None
        self.joined = False

    def _recall(self) -> None:
        try:
            state = json.loads(self._note.read_text())
            self.url, self.validator = state["url"], state["validator"]
            self.total = state["total"]
        except (OSError, ValueError, KeyError, TypeError):
            # Bytes without a note are of unknown origin: they cannot be continued.
            self.path.unlink(missing_ok=True)
        self.joined = self.size > 0


def identity(file: SourceFile) -> str:
    """A name for a file in a flat folder, the same for all its URLs."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", f"{file.benchmark}--{file.id}")


def folder_in(scratch: Path) -> Path:
    """Where unfinished downloads lie below a root's scratch folder."""
    folder = scratch / "fetch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def sole(folder: Path, file: SourceFile, log: Callable[[str], None]) -> Iterator[None]:
    """Hold a file for this process alone; a second one waits until the first is done.

    The lock goes with the process, whatever ends it; the empty lock file stays.
    """
    with (folder / f"{identity(file)}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log(f"{file.name}: another process is fetching it; waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _after(pieces: list[bytes], written: int) -> list[bytes]:
    for index, piece in enumerate(pieces):
        if written < len(piece):
            return [piece[written:], *pieces[index + 1 :]]
        written -= len(piece)
    return []
