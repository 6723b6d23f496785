"""A shard that is not what was sealed is refused by its name, and says what is wrong."""

from __future__ import annotations

import json
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shard_parts import Made, samples_of, sealed_bytes, shard_files

from ops.shards import (
    DatasetMissing,
    Manifest,
    Sample,
    ShardDamaged,
    ShardSize,
    build,
    has_manifest,
    read_manifest,
    read_shard,
    sealed_datasets,
    verify,
    write_dataset,
)
from ops.storage import Root, open_root

NAME = "made/one"


def made_samples(condition: str, count: int = 9, label: int = 1) -> list[Sample]:
    meta = {"benchmark": "made", "condition": condition, "labels": [label], "format": "jpeg"}
    return [
        Sample(f"k{n:03d}", b"\xff\xd8\xff" + random.Random(n).randbytes(500), "jpg", label, meta)
        for n in range(count)
    ]


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    for condition in ("one", "two"):
        samples = made_samples(condition)
        write_dataset(root, f"made/{condition}", samples, label_space="ilsvrc1000", per_shard=3)
    return root


def read_all(root: Root, manifest: Manifest, *, hash: bool = False) -> list[Sample]:
    entries = manifest.shards
    return [each for entry in entries for each in read_shard(root, manifest, entry, hash=hash)]


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def other_condition(root: Root, path: Path) -> None:
    shutil.copy(shard_files(root, "made/two")[1], path)


def foreign(root: Root, path: Path) -> None:
    strange = open_root(root.local_path("strange"))
    samples = [
        Sample(each.key, each.image, "jpg", 1, {**each.meta, "benchmark": "else"})
        for each in made_samples("one")[3:6]
    ]
    write_dataset(strange, "else/one", samples, label_space="ilsvrc1000")
    shutil.copy(shard_files(strange, "else/one")[0], path)
    shutil.rmtree(strange.url)


def zeros(root: Root, path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def page(root: Root, path: Path) -> None:
    path.write_bytes(b"<html>".ljust(path.stat().st_size))


DAMAGE: dict[str, tuple[Callable[[Root, Path], object], str]] = {
    "missing": (lambda root, path: path.unlink(), "no file"),
    "cut": (lambda root, path: path.write_bytes(path.read_bytes()[:-512]), "bytes"),
    "cut at a member": (lambda root, path: path.write_bytes(path.read_bytes()[:1536]), "bytes"),
    "longer": (lambda root, path: path.write_bytes(path.read_bytes() + bytes(512)), "bytes"),
    "of another condition": (other_condition, "made/two"),
    "foreign": (foreign, "else/one"),
    "zeros": (zeros, "0 samples"),
    "a page": (page, "header"),
    "flipped in a header": (lambda root, path: flip(path, 10), "header"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_without_hashing(root: Root, damage: str) -> None:
    manifest = read_manifest(root, NAME)
    spoil, told = DAMAGE[damage]
    victim = shard_files(root, NAME)[1]
    spoil(root, victim)
    with pytest.raises(ShardDamaged) as caught:
        read_all(root, manifest)
    assert victim.name in str(caught.value)
    assert told in f"{caught.value.found} {caught.value}"
    assert f"shiftlake build {NAME}" in caught.value.remedy
    first = list(read_shard(root, manifest, manifest.shards[0], hash=True))
    assert [each.key for each in first] == ["k000", "k001", "k002"], "the others still serve"
    (problem,) = verify(root, NAME, hash=True).problems[:1]
    assert problem.startswith(victim.name)


def test_sizes_are_verified_without_reading(root: Root) -> None:
    assert verify(root, NAME).problems == ()
    shard_files(root, NAME)[0].unlink()
    cut = shard_files(root, NAME)[1]
    cut.write_bytes(b"")
    problems = verify(root, NAME).problems
    assert len(problems) == 2
    assert "no file" in problems[0]
    assert cut.name in problems[1]


def test_a_flipped_pixel_takes_the_hash_to_be_seen(root: Root) -> None:
    manifest = read_manifest(root, NAME)
    victim = shard_files(root, NAME)[2]
    flip(victim, 600)
    assert len(read_all(root, manifest)) == 9
    assert verify(root, NAME).problems == ()
    with pytest.raises(ShardDamaged, match="sha256") as caught:
        read_all(root, manifest, hash=True)
    assert victim.name in str(caught.value)
    assert manifest.shards[2].sha256 in str(caught.value.expected)
    (problem,) = verify(root, NAME, hash=True).problems
    assert victim.name in problem


def test_shards_of_one_dataset_that_changed_places(root: Root) -> None:
    first, second, _ = shard_files(root, NAME)
    a, b = first.read_bytes(), second.read_bytes()
    assert len(a) == len(b)
    first.write_bytes(b)
    second.write_bytes(a)
    problems = verify(root, NAME, hash=True).problems
    assert [problem.split(":")[0] for problem in problems] == [first.name, second.name]


def test_a_manifest_that_lies_about_labels(root: Root) -> None:
    path = f"shards/{NAME}/manifest.json"
    content = root.read_json(path)
    content["label_histogram_sha256"] = "0" * 64
    root.write_json(path, content)
    (problem,) = verify(root, NAME, hash=True).problems
    assert "labels" in problem


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"name": "made/one"}', b"\xff", b"[" * 100_000]
)
def test_a_manifest_that_cannot_be_read(root: Root, content: bytes) -> None:
    root.write_bytes(f"shards/{NAME}/manifest.json", content)
    with pytest.raises(DatasetMissing, match="cannot be understood"):
        read_manifest(root, NAME)


def test_what_is_not_sealed_does_not_exist(root: Root) -> None:
    assert sealed_datasets(root) == ["made/one", "made/two"]
    root.remove(f"shards/{NAME}/manifest.json")
    assert sealed_datasets(root) == ["made/two"]
    assert not has_manifest(root, NAME)
    with pytest.raises(DatasetMissing, match=NAME):
        verify(root, NAME)


def test_a_verified_dataset_is_counted(lake: Made) -> None:
    found = verify(lake.root, "ytbb_robust/clean", hash=True)
    manifest = read_manifest(lake.root, "ytbb_robust/clean")
    assert (found.problems, found.n_keys, found.version) == ((), 238, manifest.version)
    assert found.histogram is not None
    assert sum(found.histogram.values()) > 238, "some frames have two labels"


def test_a_damaged_corrupted_image_never_enters_the_subset(fresh: Made) -> None:
    mini, full = "mini_imagenet_c/fog/5", "imagenet_c/fog/5"
    build(fresh.root, fresh.catalog, full)
    victim = shard_files(fresh.root, full)[0]
    whole = victim.read_bytes()
    flip(victim, 700)
    with pytest.raises(ShardDamaged, match=victim.name):
        build(fresh.root, fresh.catalog, mini)
    victim.write_bytes(whole)
    assert build(fresh.root, fresh.catalog, mini).n_samples == 4


def test_a_subset_without_its_dataset(fresh: Made) -> None:
    with pytest.raises(DatasetMissing, match="imagenet_c/fog/5"):
        build(fresh.root, fresh.catalog, "mini_imagenet_c/fog/5")


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.floats(0, 0.999), mask=st.integers(1, 255))
def test_any_flipped_byte_is_found(root: Root, place: float, mask: int) -> None:
    victim = shard_files(root, NAME)[0]
    whole = victim.read_bytes()
    spoilt = bytearray(whole)
    spoilt[int(place * len(whole))] ^= mask
    victim.write_bytes(spoilt)
    try:
        problems = verify(root, NAME, hash=True).problems
        assert any(problem.startswith(victim.name) for problem in problems)
    finally:
        victim.write_bytes(whole)


def test_the_manifest_says_where_everything_comes_from(lake: Made) -> None:
    manifest = read_manifest(lake.root, "imagenet_1k/val")
    (source,) = manifest.sources
    file = lake.catalog.file("imagenet-1k", "ilsvrc2012_val")
    assert (source.name, source.sha256, source.bytes) == (
        "ILSVRC2012_img_val.tar", file.sha256.value, file.bytes.value,
    )  # fmt: skip
    mini = read_manifest(lake.root, "mini_imagenet_c/snow/5")
    assert mini.sources[0].sha256 == read_manifest(lake.root, "imagenet_c/snow/5").version
    text = lake.root.read_bytes("shards/imagenet_1k/val/manifest.json").decode()
    assert lake.root.url not in text, "nothing stored knows this machine"
    assert json.loads(text)["version"] == manifest.version


def test_shards_know_no_machine(lake: Made) -> None:
    for sample in samples_of(lake.root, "imagenet_sketch/clean"):
        assert lake.root.url not in json.dumps(sample.meta)


def test_a_small_shard_size_gives_the_same_samples(fresh: Made, lake: Made) -> None:
    build(fresh.root, fresh.catalog, "imagenet_r/clean", size=ShardSize(bytes=6000))
    assert len(sealed_bytes(fresh.root, "imagenet_r/clean")) > 3
    one = samples_of(fresh.root, "imagenet_r/clean")
    assert one == samples_of(lake.root, "imagenet_r/clean")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "made/two"}, "made/two"),
        ({"format": 2}, "2"),
        ({"n_samples": 10}, "10"),
        (
            {"shards": [{"name": "../two/x.tar", "n_samples": 9, "bytes": 1, "sha256": "0"}]},
            "x.tar",
        ),
    ],
)
def test_a_manifest_at_odds_with_itself(root: Root, fields: dict[str, object], told: str) -> None:
    path = f"shards/{NAME}/manifest.json"
    root.write_json(path, {**root.read_json(path), **fields})
    with pytest.raises(DatasetMissing, match="manifest of made/one") as caught:
        read_manifest(root, NAME)
    assert told in str(caught.value.found)
    assert str(caught.value.expected) != str(caught.value.found)
    assert root.at(path) in str(caught.value)
    assert f"shiftlake build {NAME}" in caught.value.remedy


def test_problems_come_in_the_order_of_the_shards(root: Root) -> None:
    for position in (2, 0):
        flip(shard_files(root, NAME)[position], 600)
    steps: list[tuple[int, int]] = []
    found = verify(root, NAME, hash=True, progress=lambda done, total: steps.append((done, total)))
    names = [entry.name for entry in read_manifest(root, NAME).shards]
    assert [problem.split(":")[0] for problem in found.problems] == [names[0], names[2]]
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert found.n_keys == 9


def test_shards_are_verified_side_by_side(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2, timeout=20)
    opened, positions = Root.open, iter(range(3))

    def meeting(self: Root, rel: str) -> BinaryIO:
        # Two reads wait for each other: one thread alone would wait in vain.
        if next(positions) < 2:
            together.wait()
        return opened(self, rel)

    monkeypatch.setattr("ops.parallel.local.usable_cpus", lambda: 2)
    monkeypatch.setattr(Root, "open", meeting)
    assert verify(root, NAME, hash=True).problems == ()


def test_a_shard_that_vanishes_between_its_size_and_its_bytes(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = read_manifest(root, NAME)
    sizes = {entry.name: entry.bytes for entry in manifest.shards}
    shard_files(root, NAME)[0].unlink()
    monkeypatch.setattr(Root, "size", lambda self, rel: sizes[rel.rpartition("/")[2]])
    with pytest.raises(ShardDamaged, match="no file"):
        read_all(root, manifest)
