"""A few validation images of each class: the same photographs as in MiniImageNet-C."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from shard_parts import Made, samples_of, write_overlay

from ops.catalog import load
from ops.shards import build_many, read_manifest
from ops.storage import open_root


def test_bytes_labels_and_names_are_those_of_the_validation_set(lake: Made) -> None:
    whole = {each.key: each for each in samples_of(lake.root, "imagenet_1k/val")}
    some = list(samples_of(lake.root, "imagenet_1k/val_mini"))
    assert some
    for sample in some:
        source = whole[sample.key]
        assert (sample.image, sample.cls) == (source.image, source.cls)
        assert sample.meta["source_file"] == source.meta["source_file"]
        assert sample.meta["wnid"] == source.meta["wnid"]


def test_one_of_each_class_and_the_others_are_counted(lake: Made, upstream, tmp_path: Path) -> None:
    fields = {"parameters": {"n_per_class": 1, "seed": 7600}, "expected": 12, "per_class": 1}
    overlay = write_overlay(tmp_path / "overlay.yaml", upstream, **{"imagenet_1k/val_mini": fields})
    catalog = load(str(overlay))
    before = {each.key for each in samples_of(lake.root, "imagenet_1k/val_mini")}
    root = open_root(lake.root)
    kept = read_manifest(root, "imagenet_1k/val_mini")
    other = open_root(tmp_path / "lake")
    for path in root.list("shards/imagenet_1k/val"):
        other.write_bytes(path, root.read_bytes(path))
    (made,) = build_many(other, catalog, ["imagenet_1k/val_mini"])
    assert made.version != kept.version
    assert made.ignored == {"beyond 1 a class": 12}
    chosen = list(samples_of(other, "imagenet_1k/val_mini"))
    assert set(Counter(each.cls for each in chosen).values()) == {1}
    assert {each.key for each in chosen} <= before
