"""Archives with the same bytes at every build: fixed owner, time and order."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterable

Member = tuple[str, bytes]
"""Path inside the archive and content; a path that ends in "/" is a folder."""

_TIME = 1_500_000_000


def tar(members: Iterable[Member]) -> bytes:
    """Return an uncompressed tar of the members in the given order."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, content in members:
            info = tarfile.TarInfo(path.rstrip("/"))
            info.mtime = _TIME
            info.uid = info.gid = 1000
            info.uname = info.gname = "upstream"
            info.mode = 0o644
            if path.endswith("/"):
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


def gzipped(content: bytes) -> bytes:
    """Return the content as one gzip member without name or time."""
    return gzip.compress(content, compresslevel=1, mtime=0)


def zipped(members: Iterable[Member]) -> bytes:
    """Return a zip of the members, stored, in the given order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in members:
            info = zipfile.ZipInfo(path, (2017, 7, 14, 2, 40, 0))
            info.create_system = 3
            info.external_attr = (0o40755 << 16 | 0x10) if path.endswith("/") else 0o100644 << 16
            archive.writestr(info, content)
    return target.getvalue()


def folders(paths: Iterable[str]) -> list[Member]:
    """Return the folder entries that a tar made with `tar -c` has before its files."""
    found = {
        "/".join(parts[:depth]) + "/"
        for parts in (path.split("/") for path in paths)
        for depth in range(1, len(parts))
    }
    return [(folder, b"") for folder in sorted(found)]
