"""Whatever a source image is like, it becomes a sample: rendered, or failed with its reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rendering_parts import (
    VAL,
    clean_crop,
    images_of,
    lake_of,
    packed,
    photograph,
    pixels,
    samples_of,
    val_samples,
)

from ops.corruptions import Key, corrupt
from ops.errors import ShiftlakeError
from ops.rendering import render
from ops.shards import Sample, ShardDamaged, read_manifest, write_dataset

NAMES = ["imagenet_c_rendered/contrast/2", "imagenet_c_rendered/gaussian_noise/3"]


def drawn(mode: str, size: tuple[int, int] = (60, 44)) -> Image.Image:
    noise = np.random.default_rng(5).integers(0, 256, (6, 7, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC).convert(mode)


WHOLE = photograph(9, (500, 375), quality=95)
SOUND = {
    "grey": packed(drawn("L")),
    "CMYK": packed(drawn("CMYK")),
    "one pixel": packed(drawn("RGB", (1, 1))),
    "tiny": packed(drawn("RGB", (7, 5))),
    "upright": packed(drawn("RGB", (90, 300))),
    "huge": packed(drawn("RGB", (3_000, 2_400)), quality=60),
    "PNG with a palette": packed(drawn("P"), "PNG"),
    "PNG with alpha": packed(drawn("RGBA"), "PNG"),
    "progressive": packed(drawn("RGB"), progressive=True),
}
BROKEN = {
    "empty": b"",
    "cut": WHOLE[: len(WHOLE) // 2],
    "a page": b"<html>404 not found</html>",
    "a line": packed(Image.new("RGB", (60_000, 1)), "PNG"),
}


def test_unusual_sources_are_rendered_as_their_rgb(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples(list(SOUND.values())))
    for manifest in render(lake.root, lake.catalog, NAMES):
        assert (manifest.n_samples, manifest.n_failed) == (len(SOUND), 0)
    found = {each.meta["source_key"]: each.image for each in samples_of(lake.root, NAMES[1])}
    for number, (kind, data) in enumerate(SOUND.items(), 1):
        source = f"ILSVRC2012_val_{number:08d}"
        expected = corrupt(clean_crop(data), "gaussian_noise", 3, key=Key(source))
        again = packed(Image.fromarray(expected), quality=85)
        assert np.array_equal(pixels(found[source]), pixels(again)), kind


@pytest.mark.parametrize("workers", [1, 2])
def test_a_source_that_cannot_be_decoded_is_a_failed_sample(tmp_path: Path, workers: int) -> None:
    files = [photograph(1), *BROKEN.values(), photograph(2)]
    lake = lake_of(tmp_path, val_samples(files))
    for manifest in render(lake.root, lake.catalog, NAMES, workers=workers):
        assert manifest.n_samples == len(files)
        assert manifest.n_failed == len(manifest.failed) == len(BROKEN)
        reasons = {each.key.split("/")[1]: each.reason for each in manifest.failed}
        for number, reason in zip(
            (2, 3, 4, 5),
            ("no bytes", "truncated", "no known format", "would be resized to"),
            strict=True,
        ):
            assert reason in reasons[f"ILSVRC2012_val_{number:08d}"]
        samples = samples_of(lake.root, manifest.name)
        assert [bool(each.image) for each in samples].count(False) == len(BROKEN)
        for each in samples:
            assert each.cls == each.meta["labels"][0], "it is still counted, as wrong"
            assert (each.meta["format"] is None) == (not each.image) == ("reason" in each.meta)
    alone = lake_of(tmp_path / "alone", val_samples(files)[:1])
    render(alone.root, alone.catalog, NAMES)
    for name in NAMES:
        (image,) = images_of(alone.root, name).values()
        assert image in images_of(lake.root, name).values(), "a broken neighbour changes nothing"


def test_a_damaged_source_shard_stops_everything_and_is_named(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(number) for number in range(6)]), per_shard=3)
    entry = read_manifest(lake.root, VAL).shards[1]
    path = lake.root.local_path(f"shards/{VAL}/{entry.name}")
    data = bytearray(path.read_bytes())
    data[700] ^= 1
    path.write_bytes(data)
    with pytest.raises(ShardDamaged, match=entry.name):
        render(lake.root, lake.catalog, NAMES, workers=1)
    for name in NAMES:
        left = lake.root.list(f"shards/{name}")
        assert f"shards/{name}/manifest.json" not in left
        assert sum(each.endswith(".tar") for each in left) == 1, "the sound shard's"
        assert not [p for p in Path(lake.root.url).rglob("*.part") if name in str(p)]


def test_a_source_without_images_is_refused(tmp_path: Path) -> None:
    sequences = [
        Sample(each.key, b"\0\0\0\x18ftyp", "mp4", each.cls, {**each.meta, "format": "mp4"})
        for each in val_samples([b"x"] * 2)
    ]
    lake = lake_of(tmp_path, sequences)
    with pytest.raises(ShiftlakeError, match="sequences in mp4"):
        render(lake.root, lake.catalog, NAMES)


def test_a_source_that_is_not_sealed_is_told(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, [], source="cifar_100/test", label_space="cifar100")
    with pytest.raises(ShiftlakeError, match="imagenet_1k/val does not exist") as caught:
        render(lake.root, lake.catalog, NAMES)
    assert caught.value.remedy == "build it: shiftlake build imagenet_1k/val"


def test_wrong_counts_are_not_sealed_and_nothing_is_made_twice(tmp_path: Path) -> None:
    samples = val_samples([photograph(number) for number in range(3)])
    lake = lake_of(tmp_path, samples, expected=4)
    with pytest.raises(ShiftlakeError, match="the count of samples is wrong; nothing was sealed"):
        render(lake.root, lake.catalog, NAMES[:1])
    (shard,) = lake.root.local_path(f"shards/{NAMES[0]}").glob("*.tar")
    made = shard.stat().st_mtime_ns
    right = lake_of(tmp_path / "right", [], root=lake.root, source="cifar_100/test")
    render(lake.root, right.catalog, NAMES[:1])
    assert shard.stat().st_mtime_ns == made


def test_another_source_is_another_version_and_sweeps_the_old(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(number) for number in range(3)]))
    (first,) = render(lake.root, lake.catalog, NAMES[:1])
    write_dataset(lake.root, VAL, val_samples([photograph(8)]), label_space="ilsvrc1000")
    (second,) = render(lake.root, lake.catalog, NAMES[:1])
    assert second.version != first.version
    assert second.n_samples == 1
    left = {path.name for path in lake.root.local_path(f"shards/{NAMES[0]}").glob("*.tar")}
    assert left == {entry.name for entry in second.shards}
