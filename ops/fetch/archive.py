"""Read a published archive safely, without unpacking it to loose files.

An archive becomes an index: the name of every file in it, and where its bytes lie. Plain tars
and zips are indexed in place. Compressed tars, and compressed archives inside others, are inflated
once into a single scratch file that holds just the wanted members, and are indexed on the way.
(What lies inside a *compressed tar* is never itself opened; no benchmark is published that way.)
After that any process can read any member in any order. What a name *means* is not known here.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import (
    DEFAULT_LIMITS,
    HostileArchive,
    Limits,
    refuse_kind,
    safe_name,
)
from ops.fetch.archive_members import STORED, FileState, Members, Span, Wanted, damaged, file_state
from ops.fetch.archive_tar import BLOCK, FileSource, is_tar_block, walk_tar

_CHUNK = 1 << 20
_ZIP_LOCAL_HEADER = 30
_DEEPEST = 2
# What the standard library raises over zips that are not well formed.
_ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error)


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
    # One descriptor for the whole walk: the name may come to mean another file meanwhile.
    with path.open("rb") as file:
        state = file_state(file.fileno())
        sieves = wanted or (lambda _: True), nested or (lambda _: False)
        walk = _Walk(path, state, spool, *sieves, limits)
        with walk.stack:
            walk.seekable(file, 0, state.size, "")
    return walk.members


class _Walk:
    def __init__(
        self,
        path: Path,
        state: FileState,
        spool: Path,
        wanted: Wanted,
        nested: Wanted,
        limits: Limits,
    ) -> None:
        self.path, self.state, self.spool_path = path, state, spool
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

    def seekable(self, file: BinaryIO, start: int, size: int, prefix: str, depth: int = 0) -> None:
        """Index the archive that lies as it is in `file`, `depth` archives deep."""
        where = f"{self.path}{f' > {prefix[:-1]}' if prefix else ''}"
        if depth > _DEEPEST:
            raise HostileArchive(
                "Archives lie in archives deeper than any benchmark has them.",
                expected=f"at most {_DEEPEST} archives around a file, beside the outermost",
                found="one more",
                where=where,
                remedy="check where the archive comes from; it is not used",
            )
        file.seek(start)
        kind = sniff(file.read(BLOCK))
        if kind == "tar":
            source = FileSource(file, start, size)
            for member in walk_tar(source, where, self.limits_for_nested()):
                name = prefix + member.name
                if self.nested(name):
                    self.seekable(file, member.offset, member.size, name + "/", depth + 1)
                    file.seek(member.offset)
                    continue
                self.limits.check_member(name, member.size, where)
                if self.wanted(name):
                    span = Span(str(self.path), member.offset, member.size, file=self.state)
                    self.members.add(name, span)
        elif kind == "zip" and not prefix:
            self.zip(file, where)
        elif kind in ("gzip", "bzip2", "xz"):
            part = cast(BinaryIO, io.BufferedReader(_Part(file, start, size), _CHUNK))
            self.streamed(_inflate(kind, part), part, where, prefix)
        else:
            file.seek(start)
            raise _no_archive(where, file.read(min(size, 16)))

    def limits_for_nested(self) -> Limits:
        # An inner archive may be as large as the file that holds it.
        return Limits(max(self.limits.member, self.state.size), self.limits.ratio)

    def zip(self, file: BinaryIO, where: str) -> None:
        """Index a zip through its central directory."""
        try:
            archive = self.stack.enter_context(zipfile.ZipFile(file))
        except _ZIP_ERRORS as error:
            raise damaged(where, str(error)) from error
        inflated = 0
        for info in archive.infolist():
            name = _zip_name(info, where)
            if info.is_dir():
                continue
            self.limits.check_inflated(info.file_size, info.compress_size, f"{where}: {name}")
            inflated += info.file_size
            # Members that share their packed bytes each look harmless alone.
            self.limits.check_inflated(inflated, self.state.size, where)
            if self.nested(name):
                _zip_data(file, info, self.state.size, where)
                self.zipped(archive, info, name, where)
                continue
            self.limits.check_member(name, info.file_size, where)
            if self.wanted(name):
                start = _zip_data(file, info, self.state.size, where)
                packed = info.compress_size if info.compress_type else STORED
                span = Span(str(self.path), start, info.file_size, packed, self.state)
                self.members.add(name, span)

    def zipped(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, where: str
    ) -> None:
        """Index an archive inside a zip."""
        inside = f"{where} > {name}"
        try:
            inner = cast(BinaryIO, archive.open(info))
            head = inner.read(BLOCK)
            inner.seek(0)
        except (*_ZIP_ERRORS, EOFError, zlib.error) as error:
            raise damaged(inside, str(error)) from error
        kind = sniff(head)
        if kind not in ("tar", *_INFLATE):
            raise _no_archive(inside, head[:16])
        stream = inner if kind == "tar" else _inflate(kind, inner)
        self.streamed(stream, inner, inside, name + "/")

    def streamed(self, stream: BinaryIO, packed: BinaryIO, where: str, prefix: str) -> None:
        """Index a tar that has to be inflated; spool the bytes of wanted members."""
        source = _StreamSource(stream, packed, where, self.limits)
        if not is_tar_block(source.peek()):
            raise _no_archive(where, source.peek()[:16])
        for member in walk_tar(source, where, self.limits):
            name = prefix + member.name
            if not self.wanted(name):
                continue
            span = Span(str(self.spool_path), self.spool.tell(), member.size)
            left = member.size
            while left:
                piece = source.read(min(left, _CHUNK))
                if not piece:
                    raise damaged(where, f"the end of the stream inside {name}")
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
        except (*_ZIP_ERRORS, EOFError, zlib.error, lzma.LZMAError) as error:
            raise damaged(self._where, str(error)) from error
        return b"".join(pieces)


_INFLATE: dict[str, Callable[[BinaryIO], object]] = {
    "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}


def _inflate(kind: str, file: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, _INFLATE[kind](file))


def _zip_name(info: zipfile.ZipInfo, where: str) -> str:
    """Safe name of a zip member; refuse all but files and folders packed in the plain ways."""
    name = safe_name(info.filename, where)
    mode = info.external_attr >> 16
    if mode & 0o170000 not in (0, 0o100000, 0o040000):
        refuse_kind(name, f"file mode {mode:o}", where)
    if info.flag_bits & 0x1:
        refuse_kind(name, "an encrypted member", where)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        refuse_kind(name, f"a member packed by method {info.compress_type}", where)
    return name


def _zip_data(file: BinaryIO, info: zipfile.ZipInfo, size: int, where: str) -> int:
    """Where the bytes of a zip member start: its own header repeats name and extra field.

    `size` is that of the file. A damaged directory may place a member outside of it.
    """
    header = b""
    if 0 <= info.header_offset < size:
        file.seek(info.header_offset)
        header = file.read(_ZIP_LOCAL_HEADER)
    if len(header) < _ZIP_LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise damaged(where, f"no header of {info.filename} at byte {info.header_offset:,}")
    name, extra = struct.unpack("<HH", header[26:])
    start = int(info.header_offset + _ZIP_LOCAL_HEADER + name + extra)
    stored = info.compress_size if info.compress_type else max(info.file_size, info.compress_size)
    if start + stored > size:
        raise damaged(where, f"{size - start:,} of {stored:,} bytes of {info.filename}")
    return start


def _no_archive(where: str, head: bytes) -> ShiftlakeError:
    return ShiftlakeError(
        "A file is not an archive.",
        expected="a tar, a compressed tar or a zip",
        found=f"a file that begins with {head!r}" if head else "an empty file",
        where=where,
        remedy="remove the file and fetch it again",
    )
