"""Keyed frames of noise: independent, and after the law of their level."""

import numpy as np
import pytest
from scipy import stats

from ops.perturbations import perturbations, sequence

GREY_LEVELS = (0, 3, 90, 128, 250, 255)
LEVELS = np.arange(256)


def gaussian_law(value, parameters):
    upper = stats.norm.cdf((LEVELS + 1 - value) / (255 * parameters["sigma"]))
    upper[255] = 1
    return np.diff(upper, prepend=0)


def speckle_law(value, parameters):
    if value == 0:
        return (LEVELS == 0).astype(float)
    upper = stats.norm.cdf(((LEVELS + 1) / value - 1) / parameters["sigma"])
    upper[255] = 1
    return np.diff(upper, prepend=0)


def shot_law(value, parameters):
    counts = np.arange(600)
    seen = (np.minimum(counts / parameters["photons"], 1) * 255).astype(int)
    rate = value / 255 * parameters["photons"]
    return np.bincount(seen, stats.poisson.pmf(counts, rate), minlength=256)


LAWS = {"gaussian_noise": gaussian_law, "shot_noise": shot_law, "speckle_noise": speckle_law}


@pytest.mark.parametrize("difficulty", [1, 2, 3])
@pytest.mark.parametrize("name", LAWS)
def test_frames_follow_the_law_of_the_level(name, difficulty):
    stripes = np.repeat(np.array(GREY_LEVELS, np.uint8), 43)[:256]
    image = np.broadcast_to(stripes[:, None, None], (256, 256, 3)).copy()
    frames = sequence(image, name, key="law", difficulty=difficulty)[1:]
    parameters = perturbations()[name].levels[difficulty - 1]
    for value in GREY_LEVELS:
        rows = np.flatnonzero(stripes[16:240] == value)
        counts = np.bincount(frames[:, rows].ravel(), minlength=256)
        law = LAWS[name](value, parameters)
        n = counts.sum()
        mean = law @ LEVELS
        variance = law @ (LEVELS - mean) ** 2
        assert abs(counts @ LEVELS / n - mean) <= 4.5 * np.sqrt(variance / n) + 1e-9
        # Kolmogorov's statistic; above 2.2 in one case of 8,000 by chance.
        assert np.abs(np.cumsum(counts) / n - np.cumsum(law)).max() * np.sqrt(n) < 2.2


@pytest.mark.parametrize("name", LAWS)
def test_frames_keys_and_difficulties_are_independent(name):
    image = np.full((256, 256, 3), 128, np.uint8)
    noise = [
        *sequence(image, name, key="a")[1:5],
        sequence(image, name, key="b")[1],
        sequence(image, name, key="a", difficulty=2)[1],
    ]
    correlation = np.corrcoef([frame.ravel().astype(float) for frame in noise])
    assert np.abs(correlation - np.eye(len(noise))).max() < 5 / np.sqrt(image[16:240, 16:240].size)


def test_a_replay_goes_on_where_the_last_sequence_stopped():
    image = np.full((256, 256, 3), 128, np.uint8)
    rng = np.random.RandomState(3)
    first, second = (sequence(image, "shot_noise", rng=rng, mode="exact") for _ in range(2))
    assert (first[1:] != second[1:]).any(axis=(1, 2, 3)).all()
