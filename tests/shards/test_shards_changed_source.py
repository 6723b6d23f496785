"""A source that is replaced while a build reads it never becomes a sealed dataset."""

from __future__ import annotations

from pathlib import Path

import pytest
from shard_parts import made_of, samples_of, tar_of

from ops.errors import ShiftlakeError
from ops.fetch import fetch
from ops.shards import ShardSize, build

VAL = "imagenet_1k/val"
ONE = ShardSize(samples=1)


def images(first: int, count: int) -> bytes:
    return tar_of(
        (f"ILSVRC2012_val_{n:08d}.JPEG", b"\xff\xd8\xff" + bytes([n]) * 40)
        for n in range(first, first + count)
    )


@pytest.mark.parametrize("at", ["in the middle", "after the last shard"])
def test_a_source_fetched_again_during_a_build(tmp_path: Path, at: str) -> None:
    made = made_of(tmp_path / "old", VAL, images(1, 8))
    other = made_of(tmp_path / "new", VAL, images(11, 8))
    when = 3 if at == "in the middle" else 8

    def progress(name: str, done: int, total: int) -> None:
        if done == when:
            fetch(made.root, other.catalog.file("imagenet-1k", "ilsvrc2012_val"), again=True)

    with pytest.raises(ShiftlakeError, match="changed while it was read") as caught:
        build(made.root, made.catalog, VAL, size=ONE, workers=1, progress=progress)
    assert "run again" in caught.value.remedy
    assert not made.root.exists(f"shards/{VAL}/manifest.json")
    manifest = build(made.root, other.catalog, VAL, size=ONE)
    keys = [each.key for each in samples_of(made.root, VAL)]
    assert keys == [f"ILSVRC2012_val_{n:08d}" for n in range(11, 19)]
    assert manifest.n_samples == 8
