"""The same images give the same bytes, however the rendering is cut up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image as PIL
import pytest
from rendering_parts import (
    CHEAP,
    NOISE,
    Lake,
    clean_crop,
    files_of,
    images_of,
    lake_of,
    packed,
    pixels,
    samples_of,
    val_samples,
)

import ops.rendering.part
from ops.corruptions import Key, corrupt
from ops.rendering import expected_version, passes, render
from ops.shards import read_manifest, verify


def test_a_rendered_image_is_the_corrupted_crop_as_jpeg_of_quality_85(
    rendered: Lake, files: list[bytes]
) -> None:
    for name in CHEAP:
        corruption, severity = name.split("/")[1:]
        for sample in samples_of(rendered.root, name):
            source = sample.meta["source_key"]
            crop = clean_crop(files[int(source[-8:]) - 1])
            expected = corrupt(crop, corruption, int(severity), key=Key(source))
            assert sample.image is not None
            again = packed(PIL.fromarray(expected), quality=85)
            assert np.array_equal(pixels(sample.image), pixels(again)), (name, sample.key)


@pytest.mark.parametrize(
    ("workers", "few"), [(2, 20_000), (9, 20_000), (3, 0)], ids=["threads", "more", "processes"]
)
def test_any_number_of_workers_and_any_order(
    rendered: Lake,
    files: list[bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workers: int,
    few: int,
) -> None:
    monkeypatch.setattr(passes, "_FEW", few)
    lake = lake_of(tmp_path, val_samples(files), per_shard=5)
    render(lake.root, lake.catalog, CHEAP[::-1], workers=workers)
    for name in CHEAP:
        assert files_of(lake.root, name) == files_of(rendered.root, name)
        assert verify(lake.root, name, hash=True).problems == ()


def test_together_or_alone(rendered: Lake, files: list[bytes], tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples(files), per_shard=5)
    for name in (NOISE[2], CHEAP[4], NOISE[0]):
        render(lake.root, lake.catalog, [name], workers=1)
        assert files_of(lake.root, name) == files_of(rendered.root, name)


def test_the_size_of_shards_changes_no_image(
    rendered: Lake, files: list[bytes], tmp_path: Path
) -> None:
    other = lake_of(tmp_path, val_samples(files), per_shard=100)
    manifests = render(other.root, other.catalog, NOISE, size=4)
    assert [entry.n_samples for entry in manifests[0].shards] == [4, 4, 4, 2]
    for name in NOISE:
        assert images_of(other.root, name) == images_of(rendered.root, name)
        assert read_manifest(other.root, name).version != read_manifest(rendered.root, name).version


def test_rendering_again_changes_nothing(rendered: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("nothing is left to render")

    monkeypatch.setattr(ops.rendering.part, "decode", fails)
    before = {name: files_of(rendered.root, name) for name in CHEAP}
    manifests = render(rendered.root, rendered.catalog, CHEAP)
    assert {name: files_of(rendered.root, name) for name in CHEAP} == before
    for name, manifest in zip(CHEAP, manifests, strict=True):
        assert manifest.version == expected_version(rendered.root, rendered.catalog, name)


def test_every_source_is_decoded_once_for_all_conditions(
    files: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []
    decode = ops.rendering.part.decode

    def counted(data: bytes) -> PIL.Image:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr(ops.rendering.part, "decode", counted)
    lake = lake_of(tmp_path, val_samples(files))
    render(lake.root, lake.catalog, CHEAP, workers=1)
    assert sorted(decoded) == sorted(files)


def test_another_seed_is_another_version_with_other_draws(
    rendered: Lake, files: list[bytes], tmp_path: Path
) -> None:
    fields = dict(rendered.catalog.dataset(NOISE[0]).parameters)
    lake = lake_of(tmp_path, val_samples(files), parameters={**fields, "seed": 1})
    names = [NOISE[0], CHEAP[3]]
    render(lake.root, lake.catalog, names)
    for name in names:
        assert read_manifest(lake.root, name).version != read_manifest(rendered.root, name).version
    noise, deterministic = (images_of(lake.root, name) for name in names)
    assert all(noise[key] != image for key, image in images_of(rendered.root, names[0]).items())
    assert deterministic == images_of(rendered.root, names[1])
