"""Walk the headers of a tar, seekable or streamed, strictly.

The standard library's reader takes a tar that stops between two members for a whole one. This
walk asks for the end-of-archive marker, and yields where each member's bytes lie, so that they
can be read later, in any order and by any process.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from ops.fetch.archive_limits import CutArchive, HostileArchive, Limits, refuse_kind, safe_name

BLOCK = 512
_KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.GNUTYPE_LONGLINK: "a link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a fifo",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
    tarfile.CONTTYPE: "a contiguous file",
}
_LONGEST_NAME = 1 << 16


class TarMember(NamedTuple):
    """A regular file in a tar: its safe name, and where its bytes lie."""

    name: str
    offset: int
    size: int


class Source(Protocol):
    """Bytes read in order; `skip` may seek."""

    def read(self, size: int) -> bytes:
        """Read exactly `size` bytes, fewer only at the end."""

    def skip(self, size: int) -> bool:
        """Move on by `size` bytes; False if the source ends before."""

    def tell(self) -> int:
        """Bytes behind us."""


class FileSource:
    """A part of a seekable file as a :class:`Source`; `tell` is the position in the file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file = file
        self._end = start + size
        file.seek(start)

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end of the part."""
        return self._file.read(min(size, self._end - self._file.tell()))

    def skip(self, size: int) -> bool:
        """Seek forward; False past the end of the part."""
        if self._file.tell() + size > self._end:
            return False
        self._file.seek(size, 1)
        return True

    def tell(self) -> int:
        """Position in the file."""
        return self._file.tell()


def is_tar_block(block: bytes) -> bool:
    """Whether 512 bytes are a tar header, by its checksum (old tars have no magic)."""
    if len(block) < BLOCK or not block.strip(b"\0"):
        return False
    try:
        tarfile.TarInfo.frombuf(block[:BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def walk_tar(source: Source, where: object, limits: Limits) -> Iterator[TarMember]:
    """Yield every regular file of a tar; the consumer may read its bytes before going on.

    Parameters
    ----------
    source : Source
        Positioned at the first header. When a member is yielded the source stands at its first
        byte; the walk goes on from wherever within the member the consumer left it.
    where : object
        Name of the archive for errors.
    limits : Limits
        Bounds on a member's size.

    Raises
    ------
    CutArchive
        If the tar ends in a member, or without its end-of-archive marker.
    HostileArchive
        For links, devices, sparse files, names that leave the folder and oversized members.
    """
    long_name: str | None = None
    pax: dict[str, str] = {}
    while True:
        block = source.read(BLOCK)
        if len(block) < BLOCK:
            _cut(where, source.tell(), "the next member or the end-of-archive marker")
        if not block.strip(b"\0"):
            return
        plain = None if long_name or pax else _plain_file(block)
        # A name such as "./" is that of no file: left to the full reader, which refuses it.
        if plain is not None and (name := safe_name(plain[0], where)):
            yield from _member(source, name, plain[1], where, limits)
            continue
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise CutArchive(
                "A tar header cannot be read.",
                expected="a valid header block",
                found=str(error),
                where=f"{where}, byte {source.tell() - BLOCK:,}",
                remedy="fetch the archive again; it is damaged",
            ) from error
        if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE):
            payload = _payload(source, info.size, where)
            if info.type == tarfile.GNUTYPE_LONGNAME:
                long_name = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif info.type == tarfile.XHDTYPE:
                pax = _pax_records(payload, where)
            continue
        name = pax.get("path") or long_name or info.name
        size = _pax_size(pax["size"], where) if "size" in pax else info.size
        if any(keyword.startswith("GNU.sparse.") for keyword in pax):
            refuse_kind(name, "a sparse file", where)
        long_name, pax = None, {}
        name = safe_name(name, where)
        if info.isdir():
            continue
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            refuse_kind(name, _KINDS.get(info.type, f"type {info.type!r}"), where)
        if size < 0 or not name:
            refuse_kind(name, f"a member of {size} bytes named {info.name!r}", where)
        yield from _member(source, name, size, where, limits)


def _member(
    source: Source, name: str, size: int, where: object, limits: Limits
) -> Iterator[TarMember]:
    limits.check_member(name, size, where)
    offset = source.tell()
    yield TarMember(name, offset, size)
    rest = offset + size + (-size) % BLOCK - source.tell()
    if not source.skip(rest):
        _cut(where, source.tell(), f"all {size:,} bytes of {name}")


def _plain_file(block: bytes) -> tuple[str, int] | None:
    """Name and size out of a header of the commonest kind; None leaves it to the full reader."""
    if block[156:157] != tarfile.REGTYPE or any(block[345:500]):
        return None
    try:
        size = int(block[124:136].rstrip(b" \0"), 8)
        checksum = int(block[148:156].rstrip(b" \0"), 8)
    except ValueError:
        return None
    name = block[:100].partition(b"\0")[0]
    if not name or size < 0 or sum(block) - sum(block[148:156]) + 8 * 0x20 != checksum:
        return None
    return name.decode("utf-8", "surrogateescape"), size


def _payload(source: Source, size: int, where: object) -> bytes:
    if not 0 <= size <= _LONGEST_NAME:
        raise HostileArchive(
            "A tar's extended header is too long.",
            expected=f"at most {_LONGEST_NAME:,} bytes",
            found=f"{size:,} bytes",
            where=where,
            remedy="check where the archive comes from; it is not used",
        )
    padded = source.read(size + (-size) % BLOCK)
    if len(padded) < size:
        _cut(where, source.tell(), "an extended header")
    return padded[:size]


def _pax_records(payload: bytes, where: object) -> dict[str, str]:
    records: dict[str, str] = {}
    position = 0
    while position < len(payload):
        digits, _, _ = payload[position : position + 20].partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        record = payload[position : position + length]
        if length <= len(digits) + 1 or len(record) < length or not record.endswith(b"\n"):
            raise _unreadable(payload[position : position + 40], where)
        keyword, _, value = record[len(digits) + 1 : -1].partition(b"=")
        text = value.decode("utf-8", "surrogateescape")
        records[keyword.decode("utf-8", "surrogateescape")] = text
        position += length
    return records


def _pax_size(text: str, where: object) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise _unreadable(f"size={text[:40]}", where)
    return int(text)


def _unreadable(found: object, where: object) -> CutArchive:
    return CutArchive(
        "A tar's extended header cannot be read.",
        expected="records '<length> <keyword>=<value>'",
        found=repr(found),
        where=where,
        remedy="remove the file and fetch it again",
    )


def _cut(where: object, position: int, wanted: str) -> None:
    raise CutArchive(
        "An archive is cut short.",
        expected=wanted,
        found=f"the end of the file at byte {position:,}",
        where=where,
        remedy="remove the file and fetch it again",
    )
