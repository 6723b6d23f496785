"""Read a published archive safely, without unpacking it to loose files.

An archive becomes an index: the name of every file in it, and where its bytes lie. Plain tars
and zips are indexed in place. Compressed tars, and archives inside compressed ones, are inflated
once into a single scratch file that holds just the wanted members, and are indexed on the way.
After that any process can read any member in any order. What a name *means* is not known here.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
import zlib
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import (
    DEFAULT_LIMITS,
    CutArchive,
    Limits,
    refuse_kind,
    safe_name,
)
from ops.fetch.archive_tar import BLOCK, FileSource, is_tar_block, walk_tar

_CHUNK = 1 << 20
_STORED = -1
Wanted = Callable[[str], bool]


class Span(NamedTuple):
    """Where a member's bytes lie: a local file, an offset, the size, and the packed size.

    `packed` is the number of deflated bytes in a zip, or -1 where the bytes lie there as they are.
    """

    path: str
    offset: int
    size: int
    packed: int = _STORED


@dataclass
class Members:
    """An index of an archive, compact enough for the 1.3 million files of ImageNet's train set."""

    names: list[str] = field(default_factory=list)
    _paths: list[str] = field(default_factory=list)
    _path_of: array[int] = field(default_factory=lambda: array("H"))
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _sizes: array[int] = field(default_factory=lambda: array("q"))
    _packed: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, span: Span) -> None:
        """Append a member."""
        if not self._paths or self._paths[-1] != span.path:
            self._paths.append(span.path)
        self.names.append(name)
        self._path_of.append(len(self._paths) - 1)
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
        return Span(
            self._paths[self._path_of[position]],
            self._offsets[position],
            self._sizes[position],
            self._packed[position],
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
                where=self._paths[0] if self._paths else "an empty archive",
                remedy="compare the archive with the catalog's layout",
            )
        with Reader() as reader:
            return reader.read(self.span(self.names.index(name)))


class Reader:
    """Reads spans with positioned reads; keeps files open; use as a context manager."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}

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
        """
        descriptor = self._open.get(span.path)
        if descriptor is None:
            descriptor = self._open[span.path] = os.open(span.path, os.O_RDONLY)
        stored = span.size if span.packed == _STORED else span.packed
        data = os.pread(descriptor, stored, span.offset)
        if span.packed != _STORED:
            try:
                data = zlib.decompressobj(-15).decompress(data, span.size + 1)
            except zlib.error as error:
                raise _damaged(span.path, str(error)) from error
        if len(data) != span.size:
            raise _damaged(span.path, f"{len(data):,} of {span.size:,} bytes of a member")
        return data


def sniff(head: bytes) -> str:
    """Kind of an archive by its first 512 bytes: tar, zip, gzip, bzip2, xz or other."""
    for magic, kind in (
        (b"\x1f\x8b", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
    ):
        if head.startswith(magic):
            return kind
    return "tar" if is_tar_block(head) else "other"


def index_archive(
    path: Path,
    *,
    spool: Path,
    wanted: Wanted | None = None,
    nested: Wanted | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Members:
    """Index an archive, deciding its format by magic bytes and never by its name.

    Parameters
    ----------
    path : Path
        A local tar, tar.gz, tar.bz2, tar.xz or zip.
    spool : Path
        Scratch file that takes the inflated bytes of wanted members, if any have to be; it is
        emptied first. Plain tars and zips leave it untouched.
    wanted : callable, optional
        Which members to index, by their safe name; all by default.
    nested : callable, optional
        Which members are archives to look into. The name of an inner member is
        ``<outer member>/<inner member>``.
    limits : Limits
        Bounds on sizes.

    Returns
    -------
    Members
        In the archive's own order, which means nothing.

    Raises
    ------
    HostileArchive, CutArchive
        See :func:`ops.fetch.archive_tar.walk_tar`.
    ShiftlakeError
        If the file is no archive.
    """
    walk = _Walk(path, spool, wanted or (lambda _: True), nested or (lambda _: False), limits)
    with walk.stack, path.open("rb") as file:
        walk.seekable(file, 0, path.stat().st_size, "")
    return walk.members


class _Walk:
    def __init__(
        self, path: Path, spool: Path, wanted: Wanted, nested: Wanted, limits: Limits
    ) -> None:
        self.path, self.spool_path = path, spool
        self.wanted, self.nested, self.limits = wanted, nested, limits
        self.members = Members()
        self.stack = ExitStack()
        self._spool: BinaryIO | None = None

    @property
    def spool(self) -> BinaryIO:
        if self._spool is None:
            self.spool_path.parent.mkdir(parents=True, exist_ok=True)
            self._spool = cast(BinaryIO, self.stack.enter_context(self.spool_path.open("wb")))
        return self._spool

    def seekable(self, file: BinaryIO, start: int, size: int, prefix: str) -> None:
        """Index the archive that lies as it is in `file`."""
        where = f"{self.path}{f' > {prefix[:-1]}' if prefix else ''}"
        file.seek(start)
        kind = sniff(file.read(BLOCK))
        if kind == "tar":
            source = FileSource(file, start, size)
            for member in walk_tar(source, where, self.limits_for_nested()):
                name = prefix + member.name
                if self.nested(name):
                    self.seekable(file, member.offset, member.size, name + "/")
                    file.seek(member.offset)
                    continue
                self.limits.check_member(name, member.size, where)
                if self.wanted(name):
                    self.members.add(name, Span(str(self.path), member.offset, member.size))
        elif kind == "zip" and not prefix:
            self.zip(where)
        elif kind in ("gzip", "bzip2", "xz"):
            part = cast(BinaryIO, io.BufferedReader(_Part(file, start, size), _CHUNK))
            self.streamed(_inflate(kind, part), part, where, prefix)
        else:
            raise ShiftlakeError(
                "A file is not an archive.",
                expected="a tar, a compressed tar or a zip",
                found=f"a file that is none of them (by its first bytes: {kind})",
                where=where,
                remedy="remove the file and fetch it again",
            )

    def limits_for_nested(self) -> Limits:
        # An inner archive may be as large as the file that holds it.
        return Limits(max(self.limits.member, self.path.stat().st_size), self.limits.ratio)

    def zip(self, where: str) -> None:
        """Index a zip through its central directory."""
        try:
            archive = self.stack.enter_context(zipfile.ZipFile(self.path))
        except zipfile.BadZipFile as error:
            raise _damaged(where, str(error)) from error
        with self.path.open("rb") as file:
            for info in archive.infolist():
                name = safe_name(info.filename, where)
                mode = info.external_attr >> 16
                if mode and (mode & 0o170000) not in (0, 0o100000, 0o040000):
                    refuse_kind(name, f"file mode {mode:o}", where)
                if info.is_dir():
                    continue
                if info.flag_bits & 0x1 or info.compress_type not in (0, 8):
                    refuse_kind(name, f"encrypted, or packed by method {info.compress_type}", where)
                self.limits.check_inflated(info.file_size, info.compress_size, f"{where}: {name}")
                if self.nested(name):
                    inner = cast(BinaryIO, archive.open(info))
                    head = inner.read(BLOCK)
                    inner.seek(0)
                    kind = sniff(head)
                    stream = inner if kind == "tar" else _inflate(kind, inner)
                    self.streamed(stream, inner, f"{where} > {name}", name + "/")
                    continue
                self.limits.check_member(name, info.file_size, where)
                if self.wanted(name):
                    file.seek(info.header_offset + 26)
                    lengths = file.read(4)
                    skip = int.from_bytes(lengths[:2], "little")
                    skip += int.from_bytes(lengths[2:], "little")
                    packed = info.compress_size if info.compress_type else _STORED
                    start = info.header_offset + 30 + skip
                    self.members.add(name, Span(str(self.path), start, info.file_size, packed))

    def streamed(self, stream: BinaryIO, packed: BinaryIO, where: str, prefix: str) -> None:
        """Index a tar that has to be inflated; spool the bytes of wanted members."""
        source = _StreamSource(stream, packed, where, self.limits)
        if not is_tar_block(source.peek()):
            raise ShiftlakeError(
                "A compressed file holds no tar.",
                expected="a tar inside the compression",
                found=repr(source.peek()[:16]),
                where=where,
                remedy="remove the file and fetch it again",
            )
        for member in walk_tar(source, where, self.limits):
            name = prefix + member.name
            if not self.wanted(name):
                continue
            span = Span(str(self.spool_path), self.spool.tell(), member.size)
            left = member.size
            while left:
                piece = source.read(min(left, _CHUNK))
                if not piece:
                    raise _damaged(where, f"the end of the stream inside {name}")
                self.spool.write(piece)
                left -= len(piece)
            self.members.add(name, span)
        # The checksum of a compressed stream stands at its end: read on to have it checked.
        while source.read(_CHUNK):
            pass


class _Part(io.RawIOBase):
    """A part of an open file as a file of its own."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._at, self._start, self._end = file, start, start, start + size

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at - self._start

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _StreamSource:
    """A decompressed stream as a source for the tar walk, with a bound on its growth."""

    def __init__(self, stream: BinaryIO, packed: BinaryIO, where: str, limits: Limits) -> None:
        self._stream, self._packed, self._where, self._limits = stream, packed, where, limits
        self._position = 0
        self._ahead = b""

    def peek(self) -> bytes:
        self._ahead = self._ahead or self._take(BLOCK)
        return self._ahead

    def read(self, size: int) -> bytes:
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        if len(data) < size:
            data += self._take(size - len(data))
        self._position += len(data)
        self._limits.check_inflated(self._position, self._packed.tell(), self._where)
        return data

    def skip(self, size: int) -> bool:
        while size:
            piece = self.read(min(size, _CHUNK))
            if not piece:
                return False
            size -= len(piece)
        return True

    def tell(self) -> int:
        return self._position

    def _take(self, size: int) -> bytes:
        pieces = []
        try:
            while size and (piece := self._stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise _damaged(self._where, str(error)) from error
        return b"".join(pieces)


def _inflate(kind: str, file: BinaryIO) -> BinaryIO:
    openers: dict[str, Callable[[BinaryIO], object]] = {
        "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
        "bzip2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
    }
    return cast(BinaryIO, openers[kind](file))


def _damaged(where: object, found: str) -> CutArchive:
    return CutArchive(
        "An archive is damaged or cut short.",
        expected="a whole archive",
        found=found,
        where=where,
        remedy="remove the file and fetch it again",
    )
