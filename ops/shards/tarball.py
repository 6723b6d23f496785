"""Tar members with fixed owner, mode and time: the same samples give the same bytes."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable
from typing import BinaryIO

BLOCK = 512
_RECORD = 20 * BLOCK
# Larger pieces are hashed and written as they come, while they are warm in the cache; smaller
# ones are gathered first, so that neither costs a call for each.
_LARGE = 32 << 10
_GATHERED = 1 << 20
# The parts of a header that are always the same: mode, owner and group; time; kind and format.
_OWNER = b"0000644\x000000000\x000000000\x00"
_TIME = b"\x0000000000000\x00"
_REST = b"0".ljust(101, b"\0") + b"ustar\x0000" + bytes(247)
_FIXED_SUM = sum(_OWNER + _TIME + b" " * 8 + _REST)


class TarWriter:
    """Write members into an open file and hash what is written.

    Parameters
    ----------
    file : binary file
        Open for writing, at its beginning.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0
        self.bytes = 0

    def add(self, members: Iterable[tuple[str, bytes]]) -> None:
        """Append members, each a name and its content."""
        for name, data in members:
            self._put(_header(name, len(data)))
            self._put(data)
            if padding := -len(data) % BLOCK:
                self._put(b"\0" * padding)

    def close(self) -> str:
        """Write the end-of-archive marker.

        Returns
        -------
        str
            The sha256 of the whole tar.
        """
        end = 2 * BLOCK
        end += -(self.bytes + end) % _RECORD
        self._put(b"\0" * end)
        self._settle()
        return self._sha256.hexdigest()

    def _put(self, data: bytes) -> None:
        self.bytes += len(data)
        if len(data) >= _LARGE:
            self._settle()
            self._write(data)
            return
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        if self._gathered_bytes >= _GATHERED:
            self._settle()

    def _settle(self) -> None:
        self._write(b"".join(self._gathered))
        self._gathered, self._gathered_bytes = [], 0

    def _write(self, data: bytes) -> None:
        self._sha256.update(data)
        self._file.write(data)


def _header(name: str, size: int) -> bytes:
    raw = name.encode("utf-8", "surrogateescape")
    if len(raw) > 100 or not raw.isascii() or size >= 1 << 33:
        info = tarfile.TarInfo(name)
        info.size = size
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    # What TarInfo.tobuf gives for a plain file, without its cost of 20 microseconds a member.
    octal = b"%011o" % size
    checksum = b"%06o\x00 " % (_FIXED_SUM + sum(raw) + sum(octal))
    return b"".join((raw.ljust(100, b"\0"), _OWNER, octal, _TIME, checksum, _REST))
