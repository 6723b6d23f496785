"""A rendering that is killed, or finds the disk full, leaves nothing half and loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rendering_parts import CHEAP, VAL, Lake, files_of, lake_of, start_render, val_samples

from ops.errors import ShiftlakeError
from ops.rendering import render
from ops.shards import has_manifest

KILLED = -9
N_SHARDS = 3 * len(CHEAP)


def places(lake: Lake) -> dict[str, tuple[int, int]]:
    """Inode and time of every rendered shard: a file that was written again has others."""
    stats = {
        path.name: path.stat()
        for path in Path(lake.root.url).glob("shards/imagenet_c_rendered/*/*/*.tar")
    }
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def noted(lake: Lake) -> set[str]:
    notes = Path(lake.root.url).glob("shards/imagenet_c_rendered/*/*/unsealed-*/*.json")
    return {path.name.removesuffix(".json") for path in notes}


def leftovers(lake: Lake) -> list[Path]:
    return [path for path in Path(lake.root.url).rglob("*") if path.name.endswith(".part")]


@pytest.mark.parametrize(
    "moment", [("--die-after", "7"), ("--die-inside", "33")], ids=["published", "in a sample"]
)
def test_only_unfinished_shards_are_made_again(
    rendered: Lake, files: list[bytes], tmp_path: Path, moment: tuple[str, str]
) -> None:
    lake = lake_of(tmp_path, val_samples(files), per_shard=5)
    process = start_render(lake, CHEAP, *moment)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == KILLED, output
    finished = {name: place for name, place in places(lake).items() if name in noted(lake)}
    assert len(CHEAP) <= len(finished) < N_SHARDS
    assert not any(has_manifest(lake.root, name) for name in CHEAP)
    # Too young, they could not be told from files that are only just being made.
    for left in leftovers(lake):
        os.utime(left, (time.time() - 3600,) * 2)
    lines: list[str] = []
    made: dict[str, list[int]] = {name: [] for name in CHEAP}
    render(
        lake.root,
        lake.catalog,
        CHEAP,
        progress=lambda name, done, total: made[name].append(done),
        log=lines.append,
    )
    assert f"{len(finished)} shards of {len(CHEAP)} datasets were finished before" in lines[0]
    assert all(seen == sorted(seen) for seen in made.values())
    assert {seen[-1] for seen in made.values()} == {len(files)}
    after = places(lake)
    assert len(after) == N_SHARDS
    assert {name: after[name] for name in finished} == finished
    for name in CHEAP:
        assert files_of(lake.root, name) == files_of(rendered.root, name)
    assert leftovers(lake) == []


def test_two_renderings_at_once(rendered: Lake, files: list[bytes], tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples(files), per_shard=5)
    both = [start_render(lake, CHEAP, "--workers", "2") for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    for name in CHEAP:
        assert files_of(lake.root, name) == files_of(rendered.root, name)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk takes privileges that are not given here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(rendered: Lake, files: list[bytes], small_disk: Path) -> None:
    lake = lake_of(small_disk, val_samples(files), per_shard=5)
    ballast = small_disk / "ballast"
    # Room for the first part's five shards, and not for the second's.
    first = [f"shards/{name}" for name in CHEAP]
    sizes = [
        path.stat().st_size
        for folder in first
        for path in sorted(rendered.root.local_path(folder).glob("*.tar"))[:1]
    ]
    free = shutil.disk_usage(small_disk).free
    ballast.write_bytes(bytes(free - int(1.4 * sum(sizes))))
    with pytest.raises(ShiftlakeError, match="disk is full") as caught:
        render(lake.root, lake.catalog, CHEAP, workers=1)
    assert "free some space" in caught.value.remedy
    assert not any(has_manifest(lake.root, name) for name in CHEAP)
    assert leftovers(lake) == []
    finished = {name: place for name, place in places(lake).items() if name in noted(lake)}
    assert len(finished) == len(CHEAP)
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    render(lake.root, lake.catalog, CHEAP, workers=2)
    after = places(lake)
    assert {name: after[name] for name in finished} == finished
    for name in CHEAP:
        assert files_of(lake.root, name) == files_of(rendered.root, name)
    assert has_manifest(lake.root, VAL)
