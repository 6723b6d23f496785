"""Archives made with the standard library, well formed and otherwise."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ops.fetch.archive import index_archive
from ops.fetch.archive_limits import DEFAULT_LIMITS, Limits
from ops.fetch.archive_members import Reader

Files = dict[str, bytes]

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
}


def tar_of(files: Iterable[tuple[str, bytes]], format: int = tarfile.GNU_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=format) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def tar_with(info: tarfile.TarInfo, data: bytes = b"") -> bytes:
    """A tar with one member of any kind, and an innocent one before it."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
        innocent = tarfile.TarInfo("innocent.jpg")
        innocent.size = 3
        archive.addfile(innocent, io.BytesIO(b"abc"))
        archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def zip_of(files: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return target.getvalue()


def contents(
    path: Path,
    *,
    nested: Callable[[str], bool] | None = None,
    wanted: Callable[[str], bool] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Files:
    """Index an archive, and read every member through the index."""
    spool = path.with_name("spool")
    members = index_archive(path, spool=spool, nested=nested, wanted=wanted, limits=limits)
    with Reader() as reader:
        found = {name: reader.read(members.span(at)) for at, name in enumerate(members.names)}
    assert len(found) == len(members)
    assert all(len(found[name]) == members.size(at) for at, name in enumerate(members.names))
    return found
