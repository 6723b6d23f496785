"""The index of an archive: which members it has, where their bytes lie, and how to read them."""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import CutArchive

STORED = -1
Wanted = Callable[[str], bool]


class FileState(NamedTuple):
    """What tells a file from another that took its name: device, inode, size, time of change."""

    device: int
    inode: int
    size: int
    mtime_ns: int


def file_state(descriptor: int) -> FileState:
    """State of an open file."""
    stat = os.fstat(descriptor)
    return FileState(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


class Span(NamedTuple):
    """Where a member's bytes lie: a local file, an offset, the size, and the packed size.

    `packed` is the number of deflated bytes in a zip, or -1 where the bytes lie there as they are.
    `file` is the state of the file when it was indexed; None for scratch files of this build.
    """

    path: str
    offset: int
    size: int
    packed: int = STORED
    file: FileState | None = None


@dataclass
class Members:
    """An index of an archive, compact enough for the 1.3 million files of ImageNet's train set."""

    names: list[str] = field(default_factory=list)
    _files: list[tuple[str, FileState | None]] = field(default_factory=list)
    _file_of: array[int] = field(default_factory=lambda: array("L"))
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _sizes: array[int] = field(default_factory=lambda: array("q"))
    _packed: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, span: Span) -> None:
        """Append a member."""
        if not self._files or self._files[-1] != (span.path, span.file):
            self._files.append((span.path, span.file))
        self.names.append(name)
        self._file_of.append(len(self._files) - 1)
        self._offsets.append(span.offset)
        self._sizes.append(span.size)
        self._packed.append(span.packed)

    def extend(self, other: Members) -> None:
        """Append all members of another index."""
        for position, name in enumerate(other.names):
            self.add(name, other.span(position))

    def only(self, wanted: Wanted) -> Members:
        """Index of those members whose names are wanted."""
        chosen = Members()
        for position, name in enumerate(self.names):
            if wanted(name):
                chosen.add(name, self.span(position))
        return chosen

    def span(self, position: int) -> Span:
        """Where the member at `position` lies."""
        path, file = self._files[self._file_of[position]]
        return Span(
            path, self._offsets[position], self._sizes[position], self._packed[position], file
        )

    def size(self, position: int) -> int:
        """Size of the member at `position` in bytes."""
        return self._sizes[position]

    def read(self, name: str) -> bytes:
        """Content of one small member, by name.

        Raises
        ------
        ShiftlakeError
            If there is no such member.
        """
        if name not in self.names:
            raise ShiftlakeError(
                "An archive lacks a file its layout promises.",
                expected=name,
                found=f"{len(self.names):,} other members, such as {self.names[:3]}",
                where=self._files[0][0] if self._files else "an empty archive",
                remedy="compare the archive with the catalog's layout",
            )
        with Reader() as reader:
            return reader.read(self.span(self.names.index(name)))


class Reader:
    """Reads spans with positioned reads; keeps files open; use as a context manager."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, FileState | None], int] = {}

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def read(self, span: Span) -> bytes:
        """Bytes of a member.

        Raises
        ------
        CutArchive
            If the file ends before the member does, or a deflated member is damaged.
        ShiftlakeError
            If the file is no longer the one that was indexed.
        """
        descriptor = self._open.get((span.path, span.file))
        if descriptor is None:
            descriptor = self._open[span.path, span.file] = _open_indexed(span)
        stored = span.size if span.packed == STORED else span.packed
        data = os.pread(descriptor, stored, span.offset)
        if span.packed != STORED:
            try:
                data = zlib.decompressobj(-15).decompress(data, span.size + 1)
            except zlib.error as error:
                raise damaged(span.path, str(error)) from error
        if len(data) != span.size:
            raise damaged(span.path, f"{len(data):,} of {span.size:,} bytes of a member")
        return data


def _open_indexed(span: Span) -> int:
    try:
        descriptor = os.open(span.path, os.O_RDONLY)
    except FileNotFoundError:
        raise _changed(span, "no file") from None
    # Offsets into one file say nothing about another that was published under its name.
    if span.file is not None and (found := file_state(descriptor)) != span.file:
        os.close(descriptor)
        raise _changed(span, found)
    return descriptor


def _changed(span: Span, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "A file changed while it was read.",
        expected=f"the file that was indexed: {span.file}",
        found=found,
        where=span.path,
        remedy="run again: the new file is indexed then; what it leaves unchanged stays",
    )


def damaged(where: object, found: str) -> CutArchive:
    """The error for an archive, or a member of one, that is not whole."""
    return CutArchive(
        "An archive is damaged or cut short.",
        expected="a whole archive",
        found=found,
        where=where,
        remedy="remove the file and fetch it again",
    )
