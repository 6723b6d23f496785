"""Where a library decides the pixels its version is part of the dataset's; elsewhere it is told."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import PIL
import pytest
from rendering_parts import CHEAP, NO_COUNTS, files_of, lake_of, overlaid, photograph, val_samples

from ops.perturbations.video import encode
from ops.rendering import Recipe, expected_version, passes, read, render
from ops.rendering.engines import perturbations
from ops.shards import read_manifest

LOSSY = ["imagenet_p_rendered/gaussian_noise", "imagenet_p_rendered/rotate"]


def test_other_libraries_make_nothing_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [CHEAP[0], LOSSY[1]]
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    first = render(lake.root, lake.catalog, names)
    for manifest in first:
        told = (manifest.renderer or {})["libraries"]
        assert (told["opencv"], told["pillow"]) == (cv2.__version__, PIL.__version__)
        assert told["opencv_libjpeg_turbo"][0].isdigit()
    assert (first[1].renderer or {})["libraries"]["pyav"] == av.__version__
    monkeypatch.setattr(passes, "libraries", lambda engine: {"pillow": "99"})
    before = [files_of(lake.root, name) for name in names]
    assert render(lake.root, lake.catalog, names) == first
    assert [files_of(lake.root, name) for name in names] == before
    for name, manifest in zip(names, first, strict=True):
        assert expected_version(lake.root, lake.catalog, name) == manifest.version
        lake.root.remove_folder(f"shards/{name}")
    for manifest, again in zip(first, render(lake.root, lake.catalog, names), strict=True):
        assert (again.renderer or {})["libraries"] == {"pillow": "99"}
        assert (again.version, again.shards) == (manifest.version, manifest.shards)


def test_the_encoder_of_a_lossy_sequence_is_part_of_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    lossy = {**NO_COUNTS, "parameters": {"storage": "published"}}
    lake = overlaid(lake, {"*": NO_COUNTS, "imagenet_p_rendered/*": lossy})
    grain, plain = render(lake.root, lake.catalog, LOSSY)
    for manifest, rate in ((grain, "crf=23.0"), (plain, "crf=20.0")):
        encoding = Recipe.of(manifest).encoding
        assert encoding["pyav"] == av.__version__
        assert encoding["encoder"].startswith("x264 - core 1")
        assert rate in encoding["settings"].split()
    monkeypatch.setattr(av, "__version__", "99")
    perturbations._coder.cache_clear()
    assert expected_version(lake.root, lake.catalog, LOSSY[1]) != plain.version
    monkeypatch.undo()

    def other_build(*arguments: object, **options: object) -> bytes:
        data = encode(*arguments, **options)  # type: ignore[arg-type]
        return data.replace(b"x264 - core 1", b"x264 - core 9")

    monkeypatch.setattr(perturbations, "encode", other_build)
    perturbations._coder.cache_clear()
    assert expected_version(lake.root, lake.catalog, LOSSY[1]) != plain.version
    monkeypatch.undo()
    perturbations._coder.cache_clear()
    assert expected_version(lake.root, lake.catalog, LOSSY[1]) == plain.version


def test_sequences_of_both_settings_share_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    lossy = {**NO_COUNTS, "parameters": {"storage": "published"}}
    lake = overlaid(lake, {"*": NO_COUNTS, "imagenet_p_*": lossy})
    recipes = [Recipe.of(each) for each in render(lake.root, lake.catalog, LOSSY)]
    assert recipes[0].encoding != recipes[1].encoding
    assert recipes[0].shared == recipes[1].shared
    fly = "imagenet_p_on_the_fly/rotate"
    (made,) = render(lake.root, lake.catalog, [fly])
    assert "libraries" not in (made.renderer or {}), "nothing was made yet"
    assert Recipe.of(made).encoding == recipes[1].encoding
    assert len(list(read(lake.root, made, read_manifest(lake.root, fly).shards[0]))) == 1
