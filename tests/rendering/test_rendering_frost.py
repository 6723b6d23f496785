"""Frost shows the photographs of its lake, and the manifest says which they were."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from rendering_parts import (
    NO_COUNTS,
    VAL,
    Lake,
    lake_of,
    packed,
    photograph,
    samples_of,
    val_samples,
)

from ops.catalog import load
from ops.corruptions.textures import FILE_IDS
from ops.fetch import fetch
from ops.rendering import (
    FrostUnavailable,
    Recipe,
    build_many,
    expected_version,
    render,
    textures,
)
from ops.shards import has_manifest, write_dataset

NAME = "imagenet_c_rendered/frost/5"


def drawn(folder: Path) -> Lake:
    """A lake whose catalog has photographs of its own."""
    lake = lake_of(folder, val_samples([photograph(1)]))
    files = []
    for number, file_id in enumerate(FILE_IDS):
        rng = np.random.default_rng(number)
        noise = Image.fromarray(rng.integers(0, 256, (230, 240, 3), dtype=np.uint8))
        path = folder / f"{file_id}.png"
        path.write_bytes(packed(noise, "PNG"))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        files.append({"id": file_id, "url": path.as_uri(), "mirrors": [], "sha256": sha256})
    lake.overlay.write_text(
        yaml.safe_dump(
            {
                "benchmarks": [{"id": "imagenet-c", "files": files}],
                "datasets": {"*": NO_COUNTS},
            }
        )
    )
    return lake._replace(catalog=load(str(lake.overlay)))


def test_fetched_photographs_come_first_and_are_part_of_the_version(tmp_path: Path) -> None:
    lake = drawn(tmp_path)
    for file_id in FILE_IDS:
        fetch(lake.root, lake.catalog.file("imagenet-c", file_id))
    shown = textures(lake.root, lake.catalog)
    assert [texture.shape for texture in shown] == [(230, 240, 3)] * 5
    (manifest,) = render(lake.root, lake.catalog, [NAME])
    installed = lake_of(tmp_path / "installed", val_samples([photograph(1)]))
    (other,) = render(installed.root, installed.catalog, [NAME])
    assert manifest.version != other.version
    first, second = Recipe.of(manifest).textures, Recipe.of(other).textures
    assert first is not None
    assert second is not None
    assert set(first).isdisjoint(second)
    assert second[1] == second[2], "the second photograph is published twice"
    assert samples_of(lake.root, NAME)[0].image != samples_of(installed.root, NAME)[0].image
    lake.root.remove_folder("sources")
    assert expected_version(lake.root, lake.catalog, NAME) != manifest.version


@pytest.fixture
def no_photographs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIFTLAKE_FROST", str(tmp_path / "empty"))


@pytest.mark.usefixtures("no_photographs")
def test_without_photographs_frost_says_where_to_get_them(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    with pytest.raises(FrostUnavailable, match="shiftlake fetch frost_texture_frost1") as caught:
        render(lake.root, lake.catalog, [NAME])
    assert "photograph" in caught.value.what


@pytest.mark.usefixtures("no_photographs")
@pytest.mark.parametrize("make", [render, build_many], ids=["render", "build"])
@pytest.mark.parametrize("form", ["rendered", "on_the_fly"])
def test_without_photographs_all_else_is_sealed_first(
    tmp_path: Path, make: Callable[..., object], form: str
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    names = [f"imagenet_c_{form}/{name}/1" for name in ("contrast", "frost", "pixelate")]
    with pytest.raises(FrostUnavailable, match=names[1]) as caught:
        make(lake.root, lake.catalog, names)
    assert f"sealed without it: {names[0]}, {names[2]}" in str(caught.value)
    assert [has_manifest(lake.root, name) for name in names] == [True, False, True]


@pytest.mark.usefixtures("no_photographs")
def test_what_derives_from_frost_waits_for_it_and_what_does_not_is_built(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    kinds = ("contrast", "frost")
    minis = [f"mini_imagenet_c_rendered/{kind}/5" for kind in kinds]
    parents = [f"imagenet_c_rendered/{kind}/5" for kind in kinds]
    with pytest.raises(FrostUnavailable, match=f"Not made: {minis[1]}, {parents[1]}"):
        build_many(lake.root, lake.catalog, [*minis, *parents])
    assert [has_manifest(lake.root, name) for name in minis] == [True, False]


def test_a_fetched_photograph_of_other_bytes_and_the_same_size_is_refused(tmp_path: Path) -> None:
    lake = drawn(tmp_path)
    files = [lake.catalog.file("imagenet-c", file_id) for file_id in FILE_IDS]
    for file in files:
        fetch(lake.root, file)
    path = lake.root.local_path(files[2].path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FrostUnavailable, match="has changed since it was verified") as caught:
        render(lake.root, lake.catalog, [NAME])
    assert files[2].name in str(caught.value.where)
    assert not has_manifest(lake.root, NAME)


def test_the_licence_is_that_of_the_source_and_of_the_photographs(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, [], source="cifar_100/test")
    write_dataset(
        lake.root,
        VAL,
        val_samples([photograph(1)]),
        label_space="ilsvrc1000",
        licence="not to be redistributed",
    )
    names = [
        "imagenet_c_rendered/contrast/5",
        "imagenet_c_on_the_fly/contrast/5",
        "mini_imagenet_c_rendered/contrast/5",
        "distorted_imagenet/gaussian_blur/1",
        NAME,
        "imagenet_c_on_the_fly/frost/5",
        "mini_imagenet_c_rendered/frost/5",
    ]
    licences = [manifest.licence for manifest in build_many(lake.root, lake.catalog, names)]
    frost = "not to be redistributed; frost photographs of unknown licence"
    assert licences == ["not to be redistributed"] * 4 + [frost] * 3
