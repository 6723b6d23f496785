"""Whatever stops a build, what is finished stays, and the result is the same to the last bit."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shard_parts import (
    Made,
    made_of,
    same_sources,
    sealed_bytes,
    shard_files,
    start_build,
    tar_of,
    write_overlay,
)

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.fetch import fetch
from ops.miniature import MiniatureUpstream
from ops.shards import DatasetMissing, ShardSize, build, expected_version, read_manifest, verify
from ops.storage import open_root

VAL = "imagenet_1k/val"
ONE = ShardSize(samples=1)
N_VAL = 24


@pytest.fixture(scope="module")
def whole(fetched: Made, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The validation set in one sample a shard, built without any trouble."""
    made = same_sources(fetched, tmp_path_factory.mktemp("whole") / "lake")
    build(made.root, made.catalog, VAL, size=ONE)
    return sealed_bytes(made.root, VAL)


def places(made: Made, dataset: str) -> dict[str, tuple[int, int]]:
    """Inode and time of every shard: a file that was written again has others."""
    stats = {path.name: path.stat() for path in shard_files(made.root, dataset)}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def finished_places(made: Made, dataset: str) -> dict[str, tuple[int, int]]:
    """Places of the shards with a note; one published just before the end may have none yet."""
    folder = Path(made.root.url) / "shards" / dataset
    noted = {path.name.removesuffix(".json") for path in folder.glob("unsealed-*/*.json")}
    return {name: place for name, place in places(made, dataset).items() if name in noted}


def written(made: Made) -> dict[Path, tuple[int, int, int]]:
    stats = {path: path.stat() for path in Path(made.root.url).rglob("*")}
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in stats.items()}


def leftovers(made: Made) -> list[str]:
    return [str(path) for path in Path(made.root.url).rglob("*") if path.name.endswith(".part")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_build_goes_on_where_it_was(
    fresh: Made, whole: dict[str, bytes], workers: int
) -> None:
    process = start_build(fresh, VAL, "--die-after", "9", "--workers", str(workers))
    output, _ = process.communicate(timeout=60)
    assert process.returncode == -9, output
    finished = finished_places(fresh, VAL)
    assert 9 <= len(finished) < N_VAL
    with pytest.raises(DatasetMissing):
        read_manifest(fresh.root, VAL)
    lines: list[str] = []
    done: list[int] = []
    build(
        fresh.root, fresh.catalog, VAL, size=ONE, log=lines.append,
        progress=lambda name, seen, total: done.append(seen),
    )  # fmt: skip
    assert sealed_bytes(fresh.root, VAL) == whole
    after = places(fresh, VAL)
    assert {name: after[name] for name in finished} == finished, "finished shards stay untouched"
    noted = int(lines[0].split(": ")[1].split(" ")[0])
    assert len(done) == N_VAL - noted, "only the missing work is done"
    assert noted >= 9


def test_a_build_killed_inside_a_shard_leaves_nothing_half(
    fresh: Made, whole: dict[str, bytes]
) -> None:
    process = start_build(fresh, VAL, "--die-inside", "6")
    process.communicate(timeout=60)
    assert process.returncode == -9
    assert len(shard_files(fresh.root, VAL)) == 5
    (left,) = leftovers(fresh)
    assert not any(name.endswith(".part") for name in fresh.root.list("shards"))
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert sealed_bytes(fresh.root, VAL) == whole
    # Too young to be told from a file that is only just being made; the next seal takes it.
    old = time.time() - 3600
    os.utime(left, (old, old))
    fresh.root.remove(f"shards/{VAL}/manifest.json")
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert leftovers(fresh) == []


def test_a_compressed_archive_killed_and_inflated_again(fresh: Made) -> None:
    name = "sun_397/clean"
    process = start_build(fresh, name, "--die-after", "9")
    process.communicate(timeout=60)
    (left,) = fresh.root.scratch().glob("inflated-*")
    old = time.time() - 3600
    os.utime(left, (old, old))
    finished = places(fresh, name)
    build(fresh.root, fresh.catalog, name, size=ONE)
    assert not list(fresh.root.scratch().glob("inflated-*"))
    after = places(fresh, name)
    assert {each: after[each] for each in finished} == finished
    assert not verify(fresh.root, name, hash=True).problems


@pytest.mark.parametrize("dataset", [VAL, "ytbb_robust/clean"])
def test_two_builds_at_once(fresh: Made, dataset: str, tmp_path: Path) -> None:
    go = tmp_path / "go"
    options = ("--wait-for", str(go), "--samples", "2", "--workers", "2")
    both = [start_build(fresh, dataset, *options) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    go.touch()
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0] == outputs[1] == read_manifest(fresh.root, dataset).version + "\n"
    assert not verify(fresh.root, dataset, hash=True).problems
    found = sealed_bytes(fresh.root, dataset)
    alone = same_sources(fresh, tmp_path / "alone")
    build(alone.root, alone.catalog, dataset, size=ShardSize(samples=2))
    assert found == sealed_bytes(alone.root, dataset)


def test_building_again_changes_nothing(fresh: Made) -> None:
    first = build(fresh.root, fresh.catalog, VAL, size=ONE)
    # With the archive gone, any work at all would fail.
    fresh.root.remove(fresh.catalog.sources(VAL)[0].path)
    everything = written(fresh)
    again = build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert again == first
    assert written(fresh) == everything
    assert expected_version(fresh.root, fresh.catalog, VAL, size=ONE) == first.version


def test_another_source_is_another_version_and_sweeps_the_old(tmp_path: Path) -> None:
    files = [(f"ILSVRC2012_val_{n:08d}.JPEG", b"\xff\xd8\xff" + bytes([n])) for n in range(1, 9)]
    old = made_of(tmp_path / "old", VAL, tar_of(files))
    first = build(old.root, old.catalog, VAL, size=ONE)
    assert expected_version(old.root, old.catalog, VAL, size=ONE) == first.version
    new = made_of(tmp_path / "new", VAL, tar_of(files[:6]))
    shutil.rmtree(old.root.local_path("sources"))
    fetch(old.root, new.catalog.file("imagenet-1k", "ilsvrc2012_val"))
    assert expected_version(old.root, new.catalog, VAL, size=ONE) != first.version
    second = build(old.root, new.catalog, VAL, size=ONE)
    assert second.version != first.version
    assert second.n_samples == 6
    names = {path.name for path in shard_files(old.root, VAL)}
    assert names == {entry.name for entry in second.shards}
    assert not names & {entry.name for entry in first.shards}


def test_the_size_of_shards_is_part_of_the_version(fresh: Made) -> None:
    versions = {
        build(fresh.root, fresh.catalog, VAL, size=size).version
        for size in (ShardSize(samples=5), ShardSize(samples=6), ShardSize(bytes=9000))
    }
    assert len(versions) == 3
    assert not verify(fresh.root, VAL, hash=True).problems


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"expected": N_VAL + 1}, "samples"),
        ({"expected_classes": 13}, "classes"),
        ({"per_class": 3, "expected_classes": None}, "without 3 samples"),
    ],
)
def test_wrong_counts_are_not_sealed(
    fresh: Made, upstream: MiniatureUpstream, tmp_path: Path, fields: dict[str, int], told: str
) -> None:
    wrong = load(str(write_overlay(tmp_path / "wrong.yaml", upstream, **{VAL: fields})))
    with pytest.raises(ShiftlakeError, match=told) as caught:
        build(fresh.root, wrong, VAL, size=ONE)
    assert "nothing was sealed" in str(caught.value)
    assert str(caught.value.expected) != str(caught.value.found)
    assert not fresh.root.exists(f"shards/{VAL}/manifest.json")
    finished = places(fresh, VAL)
    assert len(finished) == N_VAL
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert places(fresh, VAL) == finished, "with the right counts nothing is written again"


def test_a_missing_source_is_told(fresh: Made) -> None:
    shutil.rmtree(fresh.root.local_path("sources"))
    with pytest.raises(ShiftlakeError, match="no receipt") as caught:
        build(fresh.root, fresh.catalog, VAL)
    assert "shiftlake fetch imagenet-1k" in caught.value.remedy


def test_a_damaged_shard_is_built_again(fresh: Made, whole: dict[str, bytes]) -> None:
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    victim = shard_files(fresh.root, VAL)[4]
    victim.write_bytes(victim.read_bytes()[:-512])
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert sealed_bytes(fresh.root, VAL) == whole


def test_a_note_that_a_power_failure_cut_costs_its_shard(
    fresh: Made, whole: dict[str, bytes]
) -> None:
    process = start_build(fresh, VAL, "--die-after", "9")
    process.communicate(timeout=60)
    kept = finished_places(fresh, VAL)
    notes = sorted((fresh.root.local_path("shards") / VAL).glob("unsealed-*/*.json"))
    for note, cut in zip(notes, (b"", b'{"entry": {', b"{}", bytes(300)), strict=False):
        note.write_bytes(cut)
        del kept[note.name.removesuffix(".json")]
    assert kept
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert sealed_bytes(fresh.root, VAL) == whole
    after = places(fresh, VAL)
    assert {name: after[name] for name in kept} == kept


def test_a_damaged_manifest_does_not_stand_in_the_way(fresh: Made, whole: dict[str, bytes]) -> None:
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    fresh.root.write_bytes(f"shards/{VAL}/manifest.json", b'{"benchmark":')
    build(fresh.root, fresh.catalog, VAL, size=ONE)
    assert sealed_bytes(fresh.root, VAL) == whole


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk takes privileges that are not given here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("dataset", [VAL, "sun_397/clean"])
def test_a_full_disk(fetched: Made, small_disk: Path, tmp_path: Path, dataset: str) -> None:
    root = open_root(small_disk / "lake")
    for file in fetched.catalog.sources(dataset):
        for suffix in ("", ".receipt.json"):
            root.write_bytes(file.path + suffix, fetched.root.read_bytes(file.path + suffix))
    ballast = small_disk / "ballast"
    free = shutil.disk_usage(small_disk).free
    ballast.write_bytes(bytes(free - (120 << 10)))
    made = Made(root, fetched.catalog, fetched.overlay)
    with pytest.raises(ShiftlakeError, match="disk is full") as caught:
        build(root, fetched.catalog, dataset, size=ONE)
    assert "free some space" in caught.value.remedy
    assert not root.exists(f"shards/{dataset}/manifest.json")
    assert leftovers(made) == []
    finished = finished_places(made, dataset)
    assert (dataset == VAL) == bool(finished)
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    build(root, fetched.catalog, dataset, size=ONE)
    after = places(made, dataset)
    assert {name: after[name] for name in finished} == finished
    roomy = same_sources(fetched, tmp_path / "roomy")
    build(roomy.root, roomy.catalog, dataset, size=ONE)
    assert sealed_bytes(root, dataset) == sealed_bytes(roomy.root, dataset)
