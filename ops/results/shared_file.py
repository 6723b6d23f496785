"""A file that several threads may read at once through one handle.

DuckDB's threads share the handle of a Python filesystem and read by ``seek`` and then ``read``.
With one position a handle, another thread's ``seek`` can fall between the two, and the wrong
bytes are read without an error.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from threading import get_ident


class SharedFile(io.RawIOBase):
    """A file opened for reading, with a position of its own for every thread.

    Parameters
    ----------
    content : Path, str or bytes
        A regular file on this machine, or what it would hold.
    size : int, optional
        Of the file in bytes, where it is known.
    """

    def __init__(self, content: Path | str | bytes, size: int | None = None) -> None:
        super().__init__()
        self._positions: dict[int, int] = {}
        self._bytes: memoryview | None = None
        if isinstance(content, bytes):
            self._bytes, self._size = memoryview(content), len(content)
        else:
            self._descriptor = os.open(content, os.O_RDONLY)
            self._size = os.fstat(self._descriptor).st_size if size is None else size

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
        return True

    def tell(self) -> int:
        """Position of the calling thread."""
        return self._positions.get(get_ident(), 0)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the calling thread; the position of no other thread changes."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._size}[whence]
        self._positions[get_ident()] = start + offset
        return start + offset

    def read(self, size: int = -1, /) -> bytes:
        """Read `size` bytes from the thread's position on, fewer only at the end of the file."""
        position = self.tell()
        left = self._size - position if size < 0 else size
        parts = []
        while left > 0 and (part := self._read_at(left, position)):
            parts.append(part)
            position, left = position + len(part), left - len(part)
        self._positions[get_ident()] = position
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_at(self, size: int, position: int) -> bytes:
        if self._bytes is not None:
            return bytes(self._bytes[position : position + size])
        return os.pread(self._descriptor, size, position)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if not self.closed and self._bytes is None:
            os.close(self._descriptor)
        super().close()
