"""A disk that is too small is noticed before, and survived in the middle."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_server import QUICK, FaultServer, known, noise, source

from ops.catalog import load
from ops.fetch import DiskFull, add, fetch
from ops.storage import Root, open_root

DATA = noise(12 << 20)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 8 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_too_little_room_is_told_before_the_first_byte(
    server: FaultServer, small_disk: Path
) -> None:
    root = open_root(small_disk / "lake")
    url = server.put("/a.tar", DATA)
    with pytest.raises(DiskFull) as full:
        fetch(root, known(url, DATA))
    assert f"{len(DATA):,}" in str(full.value.expected)
    assert "bytes free" in str(full.value.found)
    assert str(small_disk) in str(full.value.where)
    assert server.requests == []
    with pytest.raises(DiskFull):
        # Here only the server knows the size.
        fetch(root, source(url))
    assert sum(path.stat().st_size for path in (root.scratch() / "fetch").glob("*.part")) == 0


def test_running_full_keeps_what_came(server: FaultServer, small_disk: Path) -> None:
    root = open_root(small_disk / "lake")
    file = source(server.put("/a.tar", DATA, declared=False))
    with pytest.raises(DiskFull, match="kept"):
        fetch(root, file, patience=QUICK)
    (partial,) = (root.scratch() / "fetch").glob("*.part")
    kept = partial.stat().st_size
    assert 4 << 20 < kept < 8 << 20
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    fetch(root, file)
    assert root.read_bytes(file.path) == DATA
    assert server.requests[-1].headers["Range"] == f"bytes={kept}-"


def test_adding_to_a_full_disk_leaves_no_rest(small_disk: Path, tmp_path: Path) -> None:
    given = tmp_path / "ILSVRC2017_VID.tar.gz"
    given.write_bytes(DATA)
    root = open_root(small_disk / "lake")
    with pytest.raises(DiskFull):
        add(root, load(os.devnull), given)
    assert list((root.scratch() / "fetch").glob("*.part")) == []


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, resource.RLIM_INFINITY))
from ops.catalog import SourceFile
from ops.fetch import DiskFull, fetch
from ops.storage import open_root
try:
    fetch(open_root(sys.argv[1]), SourceFile.model_validate_json(sys.argv[2]))
except DiskFull as full:
    print(full)
"""


def test_a_limit_on_file_size_is_explained_too(server: FaultServer, root: Root) -> None:
    import sys

    file = known(server.put("/a.tar", DATA), DATA)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, root.url, file.model_dump_json()],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large" in done.stdout
    assert fetch(root, file).bytes == len(DATA)
    assert server.requests[-1].headers["Range"] == f"bytes={3 << 20}-"
