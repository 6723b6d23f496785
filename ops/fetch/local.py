"""The ``file://`` reader: a mounted mirror, or a disk that came by post."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from ops.fetch.body import PIECE, Body, RangeRefused, Transient, Unavailable


def open_local(url: str, *, offset: int = 0, validator: str | None = None, timeout: float) -> Body:
    """Open a local file from `offset` on; `timeout` has no meaning here.

    Raises
    ------
    Transient, Unavailable, RangeRefused
    """
    path = Path(unquote(urlsplit(url).path))
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise Unavailable(f"the file cannot be read: {error.strerror}") from None
    stat = path.stat()
    present = f"{stat.st_mtime_ns}-{stat.st_size}"
    if offset and (offset > stat.st_size or validator not in (None, present)):
        file.close()
        raise RangeRefused
    file.seek(offset)

    def read() -> bytes:
        try:
            return file.read(PIECE)
        except OSError as error:
            raise Transient(f"reading failed: {error.strerror}") from None

    return Body(offset, stat.st_size, present, "", read, file.close)
