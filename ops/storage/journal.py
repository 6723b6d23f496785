"""Records that are only ever added: on disk when :meth:`Journal.append` returns, never changed.

A folder of files with a JSON object a line. Each writer has files of its own, so that writers,
on one machine or many, never wait for each other and never mix their lines. A writer that is
killed leaves at most one line without its end, which is no record: nobody was told that it is.

On a remote root a writer's file is an object that it replaces by a longer one with each call,
until it is `_OBJECT_BYTES` long: what a reader has read of it stays true.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from ops.errors import ShiftlakeError
from ops.storage.root import Root, full_disk_explained
from ops.storage.stamp import list_folders

_SUFFIX = ".jsonl"
_OBJECT_BYTES = 64 << 10
_PART_BYTES = 1 << 20
# A remote root is waited for, not computed.
_READERS = 16


class Journal:
    """The records in a folder, and this process's way to add to them.

    Safe to use from several threads, in several processes, and across a fork.

    Parameters
    ----------
    root : Root
    folder : str
        Path below the root; nothing else may lie in it.
    """

    def __init__(self, root: Root, folder: str) -> None:
        self._root, self._folder = root, folder
        self._lock = RLock()
        self._read: dict[str, int] = {}
        self._forget()

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Add records; once this returns they survive whatever happens to the process.

        If it fails, none of them may be taken as added; adding them again is safe where readers
        know a record by an id of its own.

        Raises
        ------
        ShiftlakeError
            If the disk is full.
        TypeError, ValueError
            If a record is not JSON; nothing is added then.
        """
        if not records:
            return
        lines = b"".join(json.dumps(record, allow_nan=False).encode() + b"\n" for record in records)
        with self._lock:
            if self._owner != os.getpid():
                # After a fork the file is the parent's.
                self._forget()
            try:
                if self._root.is_local:
                    self._append_locally(lines)
                else:
                    self._append_remotely(lines)
            except BaseException:
                # Whatever lies there of these lines is the end of that file for good.
                self._forget()
                raise

    def read(self) -> list[dict[str, Any]]:
        """All records of all writers, in the order of their files' names."""
        with self._lock:
            self.rewind()
            return self.read_new()

    def read_new(self, understood: Callable[[bytes], list[Any]] | None = None) -> list[Any]:
        """Records that this journal has not given before, by this process or another.

        Parameters
        ----------
        understood : callable, optional
            Makes records of a JSON array of objects; what it raises is raised, and the same
            records come again. By default they are dicts.
        """
        with self._lock:
            if self._root.is_local:
                sizes = _local_sizes(self._root.local_path(self._folder))
            else:
                listed = list_folders(self._root, [self._folder])[0].sizes
                prefix = f"{self._folder}/"
                sizes = {
                    name.removeprefix(prefix): size
                    for name, size in listed.items()
                    if name.endswith(_SUFFIX)
                }
            grown = [name for name in sorted(sizes) if sizes[name] > self._read.get(name, 0)]
            if self._root.is_local or len(grown) < 2:
                parts = [self._whole_lines(name) for name in grown]
            else:
                with ThreadPoolExecutor(_READERS) as pool:
                    parts = list(pool.map(self._whole_lines, grown))
            found: list[Any] = []
            for name, lines in zip(grown, parts, strict=True):
                if understood is None:
                    found += self._parsed(name, lines)
                else:
                    for part in _parts(lines):
                        found += understood(_array(part))
            # Not before all are understood: what is damaged must not hide what is not.
            for name, lines in zip(grown, parts, strict=True):
                self._read[name] = self._read.get(name, 0) + len(lines)
            return found

    def rewind(self) -> None:
        """Give all records again with the next :meth:`read_new`."""
        with self._lock:
            self._read = {}

    def _forget(self) -> None:
        """Begin a file of its own with the next record."""
        self._owner = os.getpid()
        self._name: str | None = None
        self._content = b""

    def _new_name(self) -> str:
        # By chance, too: two processes may start within a microsecond.
        start = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        return f"{start}-{uuid.uuid4().hex[:16]}{_SUFFIX}"

    def _append_locally(self, lines: bytes) -> None:
        folder = self._root.local_path(self._folder)
        name = self._name or self._new_name()
        path = folder / name
        with full_disk_explained(path, self._folder):
            if self._name is None:
                _make_durably(folder)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            file = os.open(path, flags | (os.O_EXCL if self._name is None else 0), 0o644)
            try:
                left = memoryview(lines)
                while left:
                    left = left[os.write(file, left) :]
                os.fsync(file)
            finally:
                os.close(file)
            if self._name is None:
                _sync_folder(folder)
        self._name = name

    def _append_remotely(self, lines: bytes) -> None:
        if len(self._content) + len(lines) > _OBJECT_BYTES:
            self._forget()
        name, content = self._name or self._new_name(), self._content + lines
        self._root.write_bytes(f"{self._folder}/{name}", content)
        self._name, self._content = name, content

    def _whole_lines(self, name: str) -> bytes:
        """What has been added to a file since it was last read, up to its last whole line."""
        start = self._read.get(name, 0)
        rel = f"{self._folder}/{name}"
        if self._root.is_local:
            with self._root.open(rel) as file:
                file.seek(start)
                data = file.read()
        else:
            data = bytes(self._root.fs.cat_file(self._root.at(rel), start=start))
        return data[: data.rfind(b"\n") + 1]

    def _parsed(self, name: str, lines: bytes) -> list[dict[str, Any]]:
        # One call for all lines takes half the time of one for each.
        try:
            found = json.loads(_array(lines))
            if all(type(record) is dict for record in found):
                return list(found)
        except ValueError:
            pass
        for number, line in enumerate(lines.split(b"\n")[:-1], 1):
            try:
                whole = type(json.loads(line)) is dict
            except ValueError:
                whole = False
            if not whole:
                raise ShiftlakeError(
                    "A record of a journal is damaged.",
                    expected="a JSON object a line",
                    found=repr(line[:80]),
                    where=f"{self._root.at(f'{self._folder}/{name}')}, line {number} after byte "
                    f"{self._read.get(name, 0):,}",
                    remedy="restore the file from a copy, or delete that line: its record is lost",
                )
        raise AssertionError("lines that are records one by one are so together")


def _parts(lines: bytes) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time: all at once they are many times as large."""
    start = 0
    while start < len(lines):
        end = lines.find(b"\n", min(start + _PART_BYTES, len(lines) - 1)) + 1
        yield lines[start:end]
        start = end


def _array(lines: bytes) -> bytes:
    return b"[" + lines[:-1].replace(b"\n", b",") + b"]"


def _local_sizes(folder: Path) -> dict[str, int]:
    try:
        with os.scandir(folder) as found:
            return {e.name: e.stat().st_size for e in found if e.name.endswith(_SUFFIX)}
    except FileNotFoundError:
        return {}


def _make_durably(folder: Path) -> None:
    """Make a folder, and the folders above it, so that they outlast a power failure."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        _sync_folder(new.parent)


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
