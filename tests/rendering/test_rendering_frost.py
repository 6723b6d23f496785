"""Frost shows the photographs of its lake, and the manifest says which they were."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from rendering_parts import NO_COUNTS, Lake, lake_of, packed, photograph, samples_of, val_samples

from ops.catalog import load
from ops.corruptions.textures import FILE_IDS, found
from ops.errors import ShiftlakeError
from ops.fetch import fetch
from ops.rendering import Recipe, expected_version, render, textures
from ops.shards import read_manifest

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


def test_without_photographs_frost_says_where_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    monkeypatch.setenv("SHIFTLAKE_FROST", str(tmp_path / "empty"))
    found.cache_clear()
    try:
        with pytest.raises(ShiftlakeError, match="shiftlake fetch imagenet-c") as caught:
            render(lake.root, lake.catalog, [NAME])
        assert "photograph" in caught.value.what
    finally:
        found.cache_clear()
    # The other conditions need none.
    render(lake.root, lake.catalog, ["imagenet_c_rendered/contrast/1"])
    assert read_manifest(lake.root, "imagenet_c_rendered/contrast/1").n_samples == 1
