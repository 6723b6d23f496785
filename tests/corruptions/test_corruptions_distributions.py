"""Keyed noise follows the law of the reference: moments and KS for each grey level."""

import numpy as np
import pytest
from scipy import stats

from ops.corruptions import SEVERITIES, Key, corrupt
from ops.corruptions.keyed import Keyed
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


def test_keyed_angles_of_motion_are_uniform_over_90_degrees():
    angles = np.array(
        [keyed("motion_blur", i).uniform("angle", -45.0, 45.0, ()) for i in range(3000)]
    )
    assert stats.kstest(angles, stats.uniform(-45, 90).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(angles[:-1], angles[1:])[0, 1]) < 4 / np.sqrt(angles.size)
    # And that is the angle a dot is drawn out along: rows count downwards.
    dot = np.zeros((224, 224, 3), np.uint8)
    dot[112, 112] = 255
    for i in range(20):
        line = corrupt(dot, "motion_blur", 5, key=str(i))[..., 0].astype(float)
        rows, columns = np.nonzero(line)
        reach = np.hypot(rows - 112, columns - 112)
        far = reach.argmax()
        seen = np.degrees(np.arctan2(rows[far] - 112, columns[far] - 112))
        turned = (seen - angles[i] + 90) % 180 - 90
        assert reach[far] > 10
        assert abs(turned) < 6


def test_the_keyed_layer_of_spatter_is_the_normal_law_and_white():
    given = load()["spatter"][0]
    layers = np.stack(
        [
            keyed("spatter", i).normal("layer", given["mean"], given["std"], (224, 224))
            for i in range(20)
        ]
    )
    standard = (layers - given["mean"]) / given["std"]
    assert abs(standard.mean()) < 4 / np.sqrt(standard.size)
    assert abs(standard.var() - 1) < 4 * np.sqrt(2 / standard.size)
    assert abs((standard**4).mean() - 3) < 4 * np.sqrt(96 / standard.size)
    # Neither neighbours nor images know of each other.
    for ours, theirs in (
        (standard[:, :, 1:], standard[:, :, :-1]),
        (standard[:, 1:], standard[:, :-1]),
        (standard[1:], standard[:-1]),
    ):
        assert abs((ours * theirs).mean()) < 4 / np.sqrt(ours.size)


def test_as_much_of_a_picture_is_under_keyed_drops_as_under_replayed_ones():
    flat = np.full((224, 224, 3), 60, np.uint8)
    rng = np.random.RandomState(5)
    for severity in SEVERITIES:
        ours = [(corrupt(flat, "spatter", severity, key=str(i)) != 60).mean() for i in range(30)]
        theirs = [(corrupt(flat, "spatter", severity, rng=rng) != 60).mean() for _ in range(30)]
        assert stats.ks_2samp(ours, theirs).pvalue > 1e-3


def keyed(corruption, number):
    """The draws of one of many images."""
    return Keyed(Key(str(number), dataset="imagenet_c"), corruption, 5)
