"""A dataset's version follows its rules, and versions do not get in each other's way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from shard_parts import Made, made_of, shard_files, start_build, tar_of, write_overlay

from ops.catalog import classes, load
from ops.errors import ShiftlakeError
from ops.miniature import MiniatureUpstream
from ops.shards import (
    Sample,
    ShardDamaged,
    ShardSize,
    build,
    expected_version,
    read_shard,
    verify,
    write_dataset,
)
from ops.shards.layouts import LAYOUTS
from ops.storage import Root, open_root

VAL = "imagenet_1k/val"
ONE = ShardSize(samples=1)
HOURS_AGO = time.time() - 7200


def age(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (HOURS_AGO, HOURS_AGO))


def test_another_rule_is_another_version(fresh: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [expected_version(fresh.root, fresh.catalog, VAL)]
    monkeypatch.setattr(LAYOUTS["flat_val"], "VERSION", 2)
    versions.append(expected_version(fresh.root, fresh.catalog, VAL))
    corrected = (*classes.val_labels()[:-1], 0)
    monkeypatch.setattr(classes, "val_labels", lambda: corrected)
    classes.fingerprint.cache_clear()
    try:
        versions.append(expected_version(fresh.root, fresh.catalog, VAL))
    finally:
        classes.fingerprint.cache_clear()
    assert len(set(versions)) == 3


def test_another_subset_is_another_version(fresh: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["imagenet_a/clean", "ytbb_robust/clean", "imagenet_sketch/clean"]
    before = [expected_version(fresh.root, fresh.catalog, name) for name in names]
    subset, video = classes.subset, classes.video
    monkeypatch.setattr(classes, "subset", lambda mask: subset(mask)[1:])
    renamed = classes.VideoClasses(("x",), (None,), ((),))
    monkeypatch.setattr(classes, "video", lambda name: renamed if name == "ytbb24" else video(name))
    classes.fingerprint.cache_clear()
    try:
        after = [expected_version(fresh.root, fresh.catalog, name) for name in names]
    finally:
        classes.fingerprint.cache_clear()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]


@pytest.mark.parametrize("fields", [{"expected": 25}, {"expected_classes": 13}, {"per_class": 3}])
def test_a_sealed_dataset_is_held_to_the_catalog(
    fresh: Made, upstream: MiniatureUpstream, tmp_path: Path, fields: dict[str, int]
) -> None:
    sealed = build(fresh.root, fresh.catalog, VAL, size=ONE)
    wrong = load(str(write_overlay(tmp_path / "wrong.yaml", upstream, **{VAL: fields})))
    with pytest.raises(ShiftlakeError, match=r"the count of .* contradicts the catalog"):
        build(fresh.root, wrong, VAL, size=ONE)
    assert build(fresh.root, fresh.catalog, VAL, size=ONE) == sealed


def test_a_seal_leaves_the_build_of_another_version_alone(fresh: Made) -> None:
    process = start_build(fresh, VAL, "--die-after", "9", "--samples", "1")
    process.communicate(timeout=60)
    begun = {path.name for path in shard_files(fresh.root, VAL)}
    two = build(fresh.root, fresh.catalog, VAL, size=ShardSize(samples=2))
    assert begun <= {path.name for path in shard_files(fresh.root, VAL)}
    lines: list[str] = []
    build(fresh.root, fresh.catalog, VAL, size=ONE, log=lines.append)
    assert lines[0].startswith(f"{VAL}: ")
    assert "of 24 shards were finished before" in lines[0]
    left = {path.name for path in shard_files(fresh.root, VAL)}
    assert not left & {entry.name for entry in two.shards}
    assert not verify(fresh.root, VAL, hash=True).problems


def test_an_abandoned_build_of_another_version_is_swept(fresh: Made) -> None:
    process = start_build(fresh, VAL, "--die-after", "9", "--samples", "1")
    process.communicate(timeout=60)
    two = build(fresh.root, fresh.catalog, VAL, size=ShardSize(samples=2))
    folder = fresh.root.local_path(f"shards/{VAL}")
    age(folder)
    assert build(fresh.root, fresh.catalog, VAL, size=ShardSize(samples=2)) == two
    wanted = {"manifest.json", *(entry.name for entry in two.shards)}
    assert {path.name for path in folder.iterdir()} == wanted


def test_a_build_killed_between_its_seal_and_its_sweep(fresh: Made) -> None:
    sealed = build(fresh.root, fresh.catalog, VAL, size=ONE)
    folder = f"shards/{VAL}/unsealed-{sealed.version}"
    fresh.root.write_json(f"{folder}/{sealed.shards[0].name}.json", {})
    assert build(fresh.root, fresh.catalog, VAL, size=ONE) == sealed
    assert not fresh.root.local_path(folder).exists()


def test_a_reader_of_the_old_version_is_told_of_the_new(tmp_path: Path) -> None:
    image = b"\xff\xd8\xff"
    made = made_of(tmp_path, VAL, tar_of([("ILSVRC2012_val_00000001.JPEG", image)]))
    old = build(made.root, made.catalog, VAL)
    new = build(made.root, made.catalog, VAL, size=ONE)
    with pytest.raises(ShardDamaged, match="was rebuilt") as caught:
        list(read_shard(made.root, old, old.shards[0]))
    assert old.version in str(caught.value.expected)
    assert new.version in str(caught.value.found)
    assert "remove" not in caught.value.remedy


def own_samples(count: int) -> list[Sample]:
    meta = {"benchmark": "made", "condition": "here", "labels": [3], "format": "jpeg"}
    return [Sample(f"k{n:02d}", b"\xff\xd8\xff", "jpg", 3, meta) for n in range(count)]


def test_samples_of_a_program_replace_those_before(tmp_path: Path) -> None:
    root: Root = open_root(tmp_path)
    write_dataset(root, "made/here", own_samples(6), label_space="ilsvrc1000", per_shard=2)
    new = write_dataset(root, "made/here", own_samples(4), label_space="ilsvrc1000", per_shard=2)
    left = {path.name for path in shard_files(root, "made/here")}
    assert left == {entry.name for entry in new.shards}
