"""What a catalog or overlay asks of a rendered dataset is checked before anything is made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rendering_parts import NO_COUNTS, Lake, lake_of, overlaid, photograph, samples_of, val_samples

from ops.errors import ShiftlakeError
from ops.inference.on_device import CorruptedOnDevice
from ops.models.transform import Transform
from ops.rendering import clean, expected_version, render
from ops.shards import has_manifest, read_manifest

STORED = "imagenet_c_rendered/contrast/2"
FLY = "imagenet_c_on_the_fly/contrast/2"
SEQUENCE = "imagenet_p_rendered/rotate"
DISTORTED = "distorted_imagenet/gaussian_noise/2"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return lake_of(tmp_path_factory.mktemp("lake"), val_samples([photograph(1)]))


def stating(lake: Lake, name: str, **parameters: object) -> Lake:
    return overlaid(lake, {"*": NO_COUNTS, name: {**NO_COUNTS, "parameters": parameters}})


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        *((STORED, "quality", value) for value in (0, -1, 101, 150, 85.7, True, "x", None)),
        *((STORED, "seed", value) for value in ("3", 3.0, True, -1, 2**63, 2**70, None)),
        *((STORED, "mode", value) for value in (None, "quick", 1)),
        (STORED, "preset", None),
        (STORED, "key_dataset", ""),
        (STORED, "sead", 3),
        (FLY, "sead", 3),
        (FLY, "cropped", None),
        (SEQUENCE, "mode", None),
        (SEQUENCE, "storage", "small"),
        (SEQUENCE, "seed", "3"),
        (SEQUENCE, "quality", 85),
        (SEQUENCE, "frames", 30),
        (SEQUENCE, "reference", "first"),
        (SEQUENCE, "cropped", 256),
        (DISTORTED, "seed", 3.0),
        (DISTORTED, "mode", "fast"),
        (DISTORTED, "cropped", 256),
    ],
)
def test_what_cannot_be_is_refused_by_dataset_and_parameter(
    lake: Lake, name: str, parameter: str, value: object
) -> None:
    other = stating(lake, name, **{parameter: value})
    for asked in (render, lambda root, catalog, names: expected_version(root, catalog, names[0])):
        with pytest.raises(ShiftlakeError) as caught:
            asked(other.root, other.catalog, [name])
        assert caught.value.where == f"{name}: parameters / {parameter}"
    assert not has_manifest(lake.root, name)


def test_a_misspelt_parameter_is_told_the_right_ones(lake: Lake) -> None:
    other = stating(lake, STORED, sead=3)
    with pytest.raises(ShiftlakeError, match="one of seed, key_dataset, cropped, mode, preset"):
        render(other.root, other.catalog, [STORED])


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
@pytest.mark.parametrize("quality", [1, 100])
def test_the_ends_of_the_ranges_are_rendered(tmp_path: Path, seed: int, quality: int) -> None:
    other = lake_of(tmp_path, val_samples([photograph(1)]))
    other = stating(other, STORED, seed=seed, quality=quality)
    (manifest,) = render(other.root, other.catalog, [STORED])
    assert manifest.renderer is not None
    assert (manifest.renderer["seed"], manifest.renderer["encoding"]["quality"]) == (seed, quality)


@pytest.mark.parametrize(
    ("preset", "wrong", "right"),
    [
        ("imagenet_224", 100, 224),
        ("imagenet_299", 224, 299),
        ("tiny_imagenet_64", 224, 64),
    ],
)
def test_the_side_that_is_told_is_that_of_the_pictures(
    tmp_path: Path, preset: str, wrong: int, right: int
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    for name in (STORED, FLY):
        other = stating(lake, name, preset=preset, cropped=wrong)
        with pytest.raises(ShiftlakeError, match=f"{right}, as preset {preset} has it") as caught:
            render(lake.root, other.catalog, [name])
        assert caught.value.found == str(wrong)
        other = stating(lake, name, preset=preset, cropped=right)
        (manifest,) = render(lake.root, other.catalog, [name])
        assert manifest.parameters["cropped"] == right
    (source,) = samples_of(lake.root, "imagenet_1k/val")
    manifest = read_manifest(lake.root, FLY)
    assert clean(manifest, source.image).shape == (right, right, 3)
    device = CorruptedOnDevice(
        lake.root, manifest, Transform(resize=(224, 224), crop=None), None, torch.device("cpu"), 1
    )
    out = np.zeros(device.shape, np.uint8)
    (made,) = device.read(manifest.shards[0])
    assert device.prepare(made, out) is None
    assert np.array_equal(out, clean(manifest, source.image))
