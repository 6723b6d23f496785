"""Keyed noise follows the law of the reference: moments and KS for each grey level."""

import numpy as np
import pytest
from scipy import stats

from ops.corruptions import SEVERITIES, corrupt
from ops.corruptions.parameters import load

SAMPLES = np.arange(256)
GREY_LEVELS = (0, 1, 30, 128, 200, 254, 255)
KEYS = 7  # of 150,528 samples each: more than a million for each law


def gaussian_law(value, parameters):
    upper = stats.norm.cdf((SAMPLES + 1 - value) / (255 * parameters["sigma"]))
    upper[255] = 1
    return np.diff(upper, prepend=0)


def speckle_law(value, parameters):
    if value == 0:
        return (value == SAMPLES).astype(float)
    upper = stats.norm.cdf(((SAMPLES + 1) / value - 1) / parameters["sigma"])
    upper[255] = 1
    return np.diff(upper, prepend=0)


def shot_law(value, parameters):
    counts = np.arange(200)
    seen = (np.minimum(counts / parameters["photons"], 1) * 255).astype(int)
    rate = value / 255 * parameters["photons"]
    return np.bincount(seen, stats.poisson.pmf(counts, rate), minlength=256)


def impulse_law(value, parameters):
    law = (value == SAMPLES) * (1 - parameters["amount"])
    law[[0, 255]] += parameters["amount"] / 2
    return law


LAWS = {
    "gaussian_noise": gaussian_law,
    "speckle_noise": speckle_law,
    "shot_noise": shot_law,
    "impulse_noise": impulse_law,
}


def check(counts, law):
    n = counts.sum()
    mean = law @ SAMPLES
    central = {power: law @ (SAMPLES - mean) ** power for power in (2, 4)}
    found = counts @ SAMPLES / n
    assert abs(found - mean) <= 4.5 * np.sqrt(central[2] / n) + 1e-9
    variance = counts @ (SAMPLES - found) ** 2 / n
    tolerance = 4.5 * np.sqrt((central[4] - central[2] ** 2) / n)
    assert abs(variance - central[2]) <= tolerance + 1e-4 * central[2] + 1e-9
    # Kolmogorov's statistic; above 2.2 in one case of 8,000 by chance, for continuous laws.
    assert np.abs(np.cumsum(counts) / n - np.cumsum(law)).max() * np.sqrt(n) < 2.2


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("corruption", LAWS)
def test_keyed_noise_has_the_law_of_its_grey_level(corruption, severity):
    parameters = load()[corruption][severity - 1]
    for value in GREY_LEVELS:
        flat = np.full((224, 224, 3), value, np.uint8)
        made = [corrupt(flat, corruption, severity, key=f"{value}/{i}") for i in range(KEYS)]
        counts = np.bincount(np.concatenate(made, None), minlength=256)
        check(counts, LAWS[corruption](value, parameters))


@pytest.mark.parametrize("corruption", LAWS)
def test_replayed_noise_has_the_same_law(corruption):
    rng = np.random.RandomState(1)
    flat = np.full((224, 224, 3), 128, np.uint8)
    made = [corrupt(flat, corruption, 3, rng=rng, mode="exact") for _ in range(KEYS)]
    counts = np.bincount(np.concatenate(made, None), minlength=256)
    check(counts, LAWS[corruption](128, load()[corruption][2]))


def test_impulses_fall_on_each_channel_by_itself():
    flat = np.full((224, 224, 3), 128, np.uint8)
    pixels = [corrupt(flat, "impulse_noise", 5, key=str(i)).reshape(-1, 3) for i in range(7)]
    flipped = (np.concatenate(pixels) != 128).sum(1)
    law = stats.binom.pmf(range(4), 3, 0.27)
    assert stats.chisquare(np.bincount(flipped), law * flipped.size).pvalue > 1e-3
