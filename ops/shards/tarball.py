"""Tar members with fixed owner, mode and time: the same samples give the same bytes."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable
from typing import BinaryIO

BLOCK = 512
_RECORD = 20 * BLOCK
_FLUSH = 4 << 20


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
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
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
        self._flush()
        return self._sha256.hexdigest()

    def _put(self, data: bytes) -> None:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self.bytes += len(data)
        if self._waiting_bytes >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        block = b"".join(self._waiting)
        self._sha256.update(block)
        self._file.write(block)
        self._waiting, self._waiting_bytes = [], 0


def _header(name: str, size: int) -> bytes:
    raw = name.encode("utf-8", "surrogateescape")
    if len(raw) > 100 or not raw.isascii() or size >= 1 << 33:
        info = tarfile.TarInfo(name)
        info.size = size
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    # What TarInfo.tobuf gives for a plain file, without its cost of 20 microseconds a member.
    block = bytearray(BLOCK)
    block[0 : len(raw)] = raw
    block[100:148] = b"0000644\x000000000\x000000000\x00%011o\x0000000000000\x00" % size
    block[148:157] = b"        0"
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\x00 " % sum(block)
    return bytes(block)
