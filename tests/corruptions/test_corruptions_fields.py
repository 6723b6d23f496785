"""Keyed fog, snow, displacements and frost are distributed like those of the reference's draws."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import fft, stats

from ops.corruptions import SEVERITIES, Key, corrupt
from ops.corruptions.draws import Replay
from ops.corruptions.elastic_transform import displacement, displacement_exact
from ops.corruptions.frost import DRAWN
from ops.corruptions.kernel import Level
from ops.corruptions.keyed import Keyed
from ops.corruptions.parameters import load
from ops.corruptions.snow import flakes

IMAGES = 24  # of 50,176 samples each: more than a million
SHAPE = (224, 224)


def keyed_levels(corruption, severity):
    parameters = load()[corruption][severity - 1]
    return [
        Level(parameters, Keyed(Key(f"image {i}", dataset="imagenet_c"), corruption, severity))
        for i in range(IMAGES)
    ]


def replayed_levels(corruption, severity):
    parameters = load()[corruption][severity - 1]
    return [Level(parameters, Replay(np.random.RandomState(i))) for i in range(IMAGES)]


def check_same_means(keyed, reference):
    """Statistics of shape (images, any) have the same expectation, by Welch's test of each."""
    keyed, reference = np.array(keyed), np.array(reference)
    found = stats.ttest_ind(keyed, reference, equal_var=False)
    assert found.pvalue.min() > 1e-3 / found.pvalue.size


def spectrum(field):
    """Log of the mean power of the frequencies in each octave, along rows and columns and both."""
    power = fft.dctn(field - field.mean(), norm="ortho") ** 2
    edges = 2 ** np.arange(8)
    bands = [slice(low, high) for low, high in pairwise(edges)]
    parts = [part for band in bands for part in (power[0, band], power[band, 0], power[band, band])]
    return [np.log(part.mean()) for part in parts]


@pytest.mark.parametrize("severity", [1, 3, 5])
def test_fog_has_the_spectrum_and_the_levels_of_the_reference(severity):
    white = np.full((*SHAPE, 3), 255, np.uint8)
    fogs = {
        "keyed": [corrupt(white, "fog", severity, key=str(i)) for i in range(IMAGES)],
        "replayed": [
            corrupt(white, "fog", severity, rng=np.random.RandomState(i), mode="exact")
            for i in range(IMAGES)
        ],
    }
    measured = {
        name: [[fog.mean(), fog.std(), *spectrum(fog[..., 0].astype(float))] for fog in images]
        for name, images in fogs.items()
    }
    check_same_means(measured["keyed"], measured["replayed"])


@pytest.mark.parametrize("severity", SEVERITIES)
def test_snow_has_as_many_and_as_bright_flakes_as_the_reference(severity):
    def measure(level):
        layer = flakes(SHAPE, level)
        beside = np.mean((layer[:, 1:] > 0) & (layer[:, :-1] > 0))
        fallen = layer[layer > 0]
        return [np.mean(layer > 0), beside, layer.std(), fallen.mean(), np.mean(fallen == 255)]

    keyed = [measure(level) for level in keyed_levels("snow", severity)]
    replayed = [measure(level) for level in replayed_levels("snow", severity)]
    check_same_means(keyed, replayed)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_winds_come_from_every_direction_of_the_reference(severity):
    angles = [
        float(
            Keyed(Key(str(i), dataset="imagenet_c"), "snow", severity).uniform(
                "angle", -135.0, -45.0, ()
            )
        )
        for i in range(500)
    ]
    assert stats.kstest(angles, stats.uniform(-135, 90).cdf).pvalue > 1e-3


@pytest.mark.parametrize("severity", SEVERITIES)
def test_displacements_have_the_variance_and_the_reach_of_the_reference(severity):
    def measure(field):
        power = fft.dctn(field.astype(float), norm="ortho") ** 2
        lags = [np.mean(field[:, lag:] * field[:, : 224 - lag]) for lag in (0, 1, 2, 4, 8, 32)]
        return [field.mean(), power[0, 0], *lags]

    keyed, replayed = (
        [
            measure(field(level, purpose, SHAPE))
            for level in levels("elastic_transform", severity)
            for purpose in ("field_x", "field_y")
        ]
        for field, levels in (
            (displacement, keyed_levels),
            (displacement_exact, replayed_levels),
        )
    )
    check_same_means(keyed, replayed)


@pytest.mark.parametrize("severity", [3, 4, 5])
def test_fine_displacements_have_the_autocorrelation_that_their_sigma_gives(severity):
    given = load()["elastic_transform"][severity - 1]
    fields = [
        displacement(level, "field_x", SHAPE)[16:-16, 16:-16].astype(float)
        for level in keyed_levels("elastic_transform", severity)
    ]
    # Uniform numbers have variance 1/3; a Gaussian blur leaves 1 / (4 pi sigma**2) of it.
    variance = given["alpha"] ** 2 / 3 / (4 * np.pi * given["sigma"] ** 2)
    for lag in range(6):
        expected = variance * np.exp(-((lag / given["sigma"]) ** 2) / 4)
        found = np.mean([np.mean(field[lag:] * field[: len(field) - lag]) for field in fields])
        assert abs(found - expected) < 0.06 * variance


def test_the_two_fields_of_a_key_have_nothing_in_common():
    level = keyed_levels("elastic_transform", 3)[0]
    across, down = (displacement(level, name, SHAPE).ravel() for name in ("field_x", "field_y"))
    # About 50,176 / (4 pi 2.44**2) independent numbers.
    assert abs(np.corrcoef(across, down)[0, 1]) < 4 / np.sqrt(670)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_each_frost_photograph_and_each_place_in_it_is_as_likely(severity):
    sources = [
        Keyed(Key(f"image {i}", dataset="imagenet_c"), "frost", severity) for i in range(2000)
    ]
    taken = np.bincount([int(each.integers("texture", 0, DRAWN, ())) for each in sources])
    # The second and the third show the same: 1 : 2 : 1 : 1.
    shown = [taken[0], taken[1] + taken[2], taken[3], taken[4]]
    assert stats.chisquare(shown, np.array([1, 2, 1, 1]) * 400).pvalue > 1e-3
    for purpose in ("row", "column"):
        places = [int(each.integers(purpose, 0, 91, ())) for each in sources]
        assert (min(places), max(places)) == (0, 90)
        assert stats.chisquare(np.bincount(places)).pvalue > 1e-3
