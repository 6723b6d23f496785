"""Brightness, saturate and contrast: the reference's bits in both modes."""

import colorsys

import numpy as np
import pytest

from ops.corruptions import SEVERITIES, Key, corrupt
from ops.corruptions.kernel import Level, kernel
from ops.corruptions.keyed import Keyed
from ops.corruptions.parameters import load
from tests.parity import fixtures

COLOURS = ("brightness", "saturate", "contrast")


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("corruption", COLOURS)
def test_every_sample_is_the_references_in_both_modes(corruption, severity, mode):
    for fixture in fixtures.outputs(corruption, severity):
        picture = fixtures.picture(fixture.input_name)
        assert fixture.same(corrupt(picture, corruption, severity, mode=mode))


@pytest.fixture(scope="module")
def colours():
    """Any colours, and those where two channels tie, one is full, or all are alike."""
    rng = np.random.default_rng(4)
    pixels = rng.integers(0, 256, (224, 224, 3)).astype(np.uint8)
    pixels[:40, :, 1] = pixels[:40, :, 0]
    pixels[40:80, :, 2] = 255
    pixels[80:100] = pixels[80:100, :, :1]
    pixels[100:120] //= 128
    return pixels


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("corruption", ["brightness", "saturate"])
def test_hue_stays_and_value_or_saturation_changes_as_told(corruption, severity, colours):
    parameters = load()[corruption][severity - 1]
    output = corrupt(colours, corruption, severity)
    for row, column in np.random.default_rng(5).integers(0, 224, (500, 2)):
        h, s, v = colorsys.rgb_to_hsv(*(colours[row, column] / 255))
        if corruption == "brightness":
            v = min(v + parameters["added"], 1)
        else:
            s = min(max(s * parameters["gain"] + parameters["added"], 0), 1)
        expected = np.array(colorsys.hsv_to_rgb(h, s, v)) * 255
        assert (output[row, column] <= expected + 1e-6).all()
        assert (output[row, column] > expected - 1 - 1e-6).all()


def test_grey_stays_grey_when_brightened_and_full_value_stays_as_it_is(colours):
    output = corrupt(colours, "brightness", 3)
    assert (np.ptp(output[80:100], axis=2) == 0).all()
    full = colours[40:80].max(2) == 255
    assert np.abs(output[40:80][full].astype(int) - colours[40:80][full]).max() <= 1


@pytest.mark.parametrize("severity", SEVERITIES)
def test_contrast_moves_samples_towards_the_mean_of_their_channel(severity, colours):
    gain = load()["contrast"][severity - 1]["gain"]
    means = colours.mean((0, 1))
    expected = (colours - means) * gain + means
    output = corrupt(colours, "contrast", severity)
    assert (output <= expected + 1e-6).all()
    assert (output > expected - 1 - 1e-6).all()


@pytest.mark.parametrize("corruption", COLOURS)
def test_severities_made_together_are_those_made_alone(corruption, colours):
    rows = load()[corruption]
    # Twice over: more results than share one look-up.
    levels = [
        Level(row, Keyed(Key("a", dataset="imagenet_c"), corruption, 1)) for row in (*rows, *rows)
    ]
    together = kernel(corruption).fast(colours, levels)
    for severity, output in zip((*SEVERITIES, *SEVERITIES), together, strict=True):
        assert np.array_equal(output, corrupt(colours, corruption, severity, mode="exact"))
