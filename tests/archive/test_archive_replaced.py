"""An index is of one file: offsets into it are never used on another that took its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_parts import tar_of, zip_of

from ops.errors import ShiftlakeError
from ops.fetch.archive import index_archive
from ops.fetch.archive_members import Members, Reader

MAKERS = [
    lambda data: tar_of([("a.jpg", data)]),
    lambda data: zip_of([("a.jpg", data)]),
    lambda data: tar_of([("t.tar", tar_of([("a.jpg", data)]))]),
]


def indexed(path: Path) -> Members:
    return index_archive(path, spool=path.with_name("spool"), nested=lambda n: n == "t.tar")


def replaced(path: Path, data: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def rewritten(path: Path, data: bytes) -> None:
    before = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(before + 1, before + 1))


@pytest.mark.parametrize("make", MAKERS, ids=["tar", "zip", "tar in tar"])
@pytest.mark.parametrize("change", [replaced, rewritten, lambda path, data: path.unlink()])
def test_a_file_that_changed_is_not_read(
    tmp_path: Path, make: Callable[[bytes], bytes], change: Callable[[Path, bytes], None]
) -> None:
    path = tmp_path / "archive"
    path.write_bytes(make(b"one"))
    members = indexed(path)
    with Reader() as reader:
        assert reader.read(members.span(0)) == b"one"
        change(path, make(b"two"))
        assert reader.read(members.span(0)) == b"one" or change is rewritten
    with Reader() as reader, pytest.raises(ShiftlakeError, match="changed while it was read"):
        reader.read(members.only(lambda _: True).span(0))
    if path.exists():
        members = indexed(path)
        with Reader() as reader:
            assert reader.read(members.span(0)) == b"two"
