"""The tables of parameters: complete, the published numbers, never guessed."""

import json

import numpy as np
import pytest

from ops.corruptions import CORRUPTIONS, SEVERITIES
from ops.corruptions.parameters import load, plain, presets, size
from ops.errors import ShiftlakeError
from ops.perturbations import perturbations

NAMES = {
    "gaussian_noise": {"sigma"},
    "shot_noise": {"photons"},
    "impulse_noise": {"amount"},
    "speckle_noise": {"sigma"},
    "defocus_blur": {"radius", "alias_sigma"},
    "glass_blur": {"sigma", "max_delta", "iterations"},
    "motion_blur": {"radius", "sigma"},
    "zoom_blur": {"start", "stop", "step"},
    "gaussian_blur": {"sigma"},
    "snow": {"mean", "std", "zoom", "threshold", "radius", "sigma", "mix"},
    "frost": {"image_weight", "frost_weight", "texture_scale"},
    "fog": {"strength", "decay", "map_size"},
    "spatter": {"mean", "std", "sigma", "threshold", "intensity", "mud"},
    "brightness": {"added"},
    "saturate": {"gain", "added"},
    "contrast": {"gain"},
    "elastic_transform": {"alpha", "sigma", "jitter"},
    "pixelate": {"scale"},
    "jpeg_compression": {"quality"},
}


@pytest.mark.parametrize("preset", presets())
def test_every_corruption_has_five_severities_of_the_same_parameters(preset):
    table = load(preset)
    assert set(table) == set(CORRUPTIONS)
    for corruption, rows in table.items():
        assert len(rows) == len(SEVERITIES)
        assert all(set(row) == NAMES[corruption] for row in rows)


def test_the_presets_are_the_published_sizes():
    assert {name: size(name) for name in presets()} == {
        "imagenet_224": 224,
        "imagenet_299": 299,
        "tiny_imagenet_64": 64,
    }


@pytest.mark.parametrize(
    ("preset", "corruption", "parameter", "expected"),
    [
        ("imagenet_224", "gaussian_noise", "sigma", [0.08, 0.12, 0.18, 0.26, 0.38]),
        ("imagenet_224", "jpeg_compression", "quality", [25, 18, 15, 10, 7]),
        ("imagenet_224", "elastic_transform", "alpha", [488, 488, 12.2, 17.08, 29.28]),
        ("imagenet_299", "shot_noise", "photons", [50, 20, 10, 5, 3]),
        ("imagenet_299", "fog", "decay", [2, 2, 1.8, 1.6, 1.5]),
        ("imagenet_299", "elastic_transform", "jitter", [36, 72, 7.2, 7.2, 7.2]),
        ("tiny_imagenet_64", "impulse_noise", "amount", [0.01, 0.02, 0.05, 0.08, 0.14]),
        ("tiny_imagenet_64", "saturate", "gain", [0.3, 0.1, 2, 5, 30]),
        ("tiny_imagenet_64", "frost", "texture_scale", [0.3] * 5),
    ],
)
def test_the_numbers_are_those_of_the_scripts_that_made_the_sets(
    preset, corruption, parameter, expected
):
    found = [row[parameter] for row in load(preset)[corruption]]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("preset", "counts"),
    [("imagenet_224", [12, 16, 11, 13, 11]), ("tiny_imagenet_64", [7, 12, 16, 21, 26])],
)
def test_zoom_factors_are_as_many_as_rounding_makes_them(preset, counts):
    rows = load(preset)["zoom_blur"]
    assert [len(np.arange(row["start"], row["stop"], row["step"])) for row in rows] == counts


def test_a_size_without_a_table_is_refused():
    with pytest.raises(ShiftlakeError, match="imagenet_224") as refusal:
        load("imagenet_225")
    assert "Did you mean imagenet_224?" in refusal.value.remedy
    with pytest.raises(ShiftlakeError, match="no table"):
        size("cifar_32")


def test_nobody_can_change_the_numbers_for_the_others():
    table = load()
    with pytest.raises(TypeError):
        table["fog"] = ()
    with pytest.raises(TypeError):
        table["fog"][0]["strength"] = 7
    for known in perturbations().values():
        for level in known.levels:
            assert not any(isinstance(value, list | dict) for value in level.values())
            with pytest.raises(TypeError):
                level["sigma"] = 7


def test_a_copy_is_what_a_file_can_hold():
    (level,) = perturbations()["spatter"].levels
    assert json.loads(json.dumps(plain(level))) == plain(level)
    assert plain(level)["flow"] == list(level["flow"])
    (level,) = perturbations()["snow"].levels
    assert plain(level)["angle"] == {"start": -150, "step": 4}
