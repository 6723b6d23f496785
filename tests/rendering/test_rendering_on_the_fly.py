"""On the fly nothing is stored, and the pixels are those that would be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rendering_parts import (
    VAL,
    Lake,
    clean_crop,
    lake_of,
    photograph,
    pixels,
    samples_of,
    val_samples,
)

from ops.catalog import load
from ops.corruptions import Key
from ops.errors import ShiftlakeError
from ops.perturbations.video import decode as decode_video
from ops.pixels import UndecodableImage
from ops.rendering import (
    as_stored,
    build_many,
    clean,
    expected_version,
    key,
    read,
    render,
    textures,
)
from ops.shards import (
    ShardDamaged,
    open_dataset,
    read_manifest,
    read_shard,
    sealed_datasets,
    verify,
    write_dataset,
)

CONDITIONS = ["gaussian_noise/4", "pixelate/1", "frost/2"]
FLY = [f"imagenet_c_on_the_fly/{name}" for name in CONDITIONS]
STORED = [f"imagenet_c_rendered/{name}" for name in CONDITIONS]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Two source shards; three conditions stored and on the fly. Do not change."""
    files = [photograph(number) for number in range(5)]
    made = lake_of(tmp_path_factory.mktemp("lake"), val_samples(files), per_shard=3)
    render(made.root, made.catalog, [*FLY, *STORED])
    return made


def test_nothing_but_a_manifest_is_stored(lake: Lake) -> None:
    source = read_manifest(lake.root, VAL)
    for name in FLY:
        assert lake.root.list(f"shards/{name}") == [f"shards/{name}/manifest.json"]
        manifest = read_manifest(lake.root, name)
        assert manifest.on_the_fly
        assert manifest.shards == source.shards
        assert manifest.n_samples == source.n_samples
        assert manifest.version == expected_version(lake.root, lake.catalog, name)
    assert set(FLY) < set(sealed_datasets(lake.root))


def test_its_recipe_is_the_stored_ones_but_for_the_form(lake: Lake) -> None:
    for fly, stored in zip(FLY, STORED, strict=True):
        recipe = read_manifest(lake.root, fly).renderer
        assert recipe is not None
        made = dict(read_manifest(lake.root, stored).renderer or {})
        assert made.pop("libraries")
        assert {**recipe, "form": "stored"} == made


def test_samples_and_pixels_are_those_of_the_stored_set(lake: Lake) -> None:
    for fly, stored in zip(FLY, STORED, strict=True):
        manifest = read_manifest(lake.root, fly)
        shown = textures(lake.root, lake.catalog) if "frost" in fly else None
        expected = {sample.key: sample for sample in samples_of(lake.root, stored)}
        seen = []
        for entry in manifest.shards:
            samples = list(read(lake.root, manifest, entry, hash=True))
            assert [each.key for each in samples] == sorted(each.key for each in samples)
            for sample in samples:
                same = expected[sample.key]
                assert sample.meta == {**same.meta, "benchmark": "imagenet_c_on_the_fly"}
                assert sample.cls == same.cls
                made = as_stored(manifest, sample, textures=shown)
                assert np.array_equal(made, pixels(same.image))
                seen.append(sample.key)
        assert sorted(seen) == sorted(expected)


def test_the_clean_crop_and_the_key_of_a_sample(lake: Lake) -> None:
    manifest = read_manifest(lake.root, FLY[0])
    sample = next(read(lake.root, manifest, manifest.shards[0]))
    assert sample.image is not None
    assert np.array_equal(clean(manifest, sample.image), clean_crop(sample.image))
    assert key(manifest, sample) == Key(sample.meta["source_key"], 0, "imagenet_c")
    with pytest.raises(UndecodableImage, match="no bytes"):
        clean(manifest, b"")


def test_clean_images_never_pass_for_corrupted_ones(lake: Lake) -> None:
    manifest = read_manifest(lake.root, FLY[0])
    with pytest.raises(ShiftlakeError, match="made as it is read"):
        next(read_shard(lake.root, manifest, manifest.shards[0]))
    with pytest.raises(ShiftlakeError, match="made as it is read"):
        next(iter(open_dataset(lake.root, FLY[0])))


@pytest.mark.parametrize("hash", [False, True])
def test_verifying_it_verifies_its_source(tmp_path: Path, hash: bool) -> None:
    made = lake_of(tmp_path, val_samples([photograph(1), photograph(2)]), per_shard=1)
    render(made.root, made.catalog, FLY[:1])
    assert verify(made.root, FLY[0], hash=hash).problems == ()
    entry = read_manifest(made.root, VAL).shards[1]
    path = made.root.local_path(f"shards/{VAL}/{entry.name}")
    path.write_bytes(path.read_bytes()[:-512])
    problem = verify(made.root, FLY[0], hash=hash).problems[0]
    assert entry.name in problem
    with pytest.raises(ShardDamaged, match=entry.name):
        list(read(made.root, read_manifest(made.root, FLY[0]), entry))


def test_a_replaced_source_is_told_and_the_manifest_made_anew(tmp_path: Path) -> None:
    made = lake_of(tmp_path, val_samples([photograph(1), photograph(2)]))
    (first,) = render(made.root, made.catalog, FLY[:1])
    write_dataset(made.root, VAL, val_samples([photograph(3)]), label_space="ilsvrc1000")
    assert expected_version(made.root, made.catalog, FLY[0]) != first.version
    with pytest.raises(ShardDamaged, match="imagenet_1k/val was rebuilt"):
        list(read(made.root, first, first.shards[0]))
    (second,) = render(made.root, made.catalog, FLY[:1])
    assert second.n_samples == 1


def test_a_source_known_to_be_no_image_has_the_key_it_has_when_stored(tmp_path: Path) -> None:
    samples = val_samples([photograph(1), b"<html>"])
    samples[1].meta["format"] = None
    made = lake_of(tmp_path, samples)
    fly, stored = render(made.root, made.catalog, [FLY[0], STORED[0]])
    assert fly.n_failed == stored.n_failed == 1
    assert fly.failed[0].key == stored.failed[0].key


def test_wrong_counts_are_not_sealed(tmp_path: Path) -> None:
    made = lake_of(tmp_path, val_samples([photograph(1)]), expected=50_000)
    with pytest.raises(ShiftlakeError, match="nothing was sealed"):
        render(made.root, made.catalog, FLY[:1])
    assert not made.root.exists(f"shards/{FLY[0]}/manifest.json")


@pytest.mark.parametrize(
    ("storage", "group", "parameters"),
    [
        ("lossless", "gaussian_noise_2", {"sigma": 0.05, "reference": "first"}),
        ("published", "rotate", {"angle": {"start": -15, "step": 1}, "reference": "previous"}),
    ],
)
def test_sequences_are_those_of_the_stored_videos(
    tmp_path: Path, storage: str, group: str, parameters: dict[str, object]
) -> None:
    names = [f"imagenet_p_{form}/{group}" for form in ("on_the_fly", "rendered")]
    fields = load().dataset(names[0]).parameters
    made = lake_of(
        tmp_path, val_samples([photograph(2, (50, 90))]), parameters={**fields, "storage": storage}
    )
    fly, stored = build_many(made.root, made.catalog, names)
    assert stored.renderer is not None
    assert stored.renderer["encoding"]["storage"] == storage
    assert stored.renderer["parameters"] == {**parameters, "frames": 31}
    (same,) = samples_of(made.root, names[1])
    (sample,) = read(made.root, fly, fly.shards[0])
    assert (same.key, same.extension, same.meta["format"]) == (sample.key, "mp4", "mp4")
    assert same.meta["source_file"] == f"{group}/{sample.key}.mp4"
    assert same.meta["difficulty"] == (2 if group.endswith("_2") else 1)
    assert same.image is not None
    frames = as_stored(fly, sample)
    assert frames.shape == (31, 224, 224, 3)
    assert np.array_equal(frames, decode_video(same.image))
    assert clean(fly, sample.image).shape == (460, 256, 3)
