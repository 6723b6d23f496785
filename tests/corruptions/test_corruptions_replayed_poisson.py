"""Compiled Poisson draws: NumPy's own counts, and the generator left where NumPy leaves it."""

import numpy as np
import pytest

from ops.corruptions.replayed_poisson import poisson

LEVELS = np.arange(256) / 255.0


def generators(words: int) -> tuple[np.random.RandomState, np.random.RandomState]:
    """Two generators alike, that many words into their stream, with a normal number in store."""
    pair = np.random.RandomState(words), np.random.RandomState(words)
    for rng in pair:
        rng.normal()
        rng.randint(0, 2, words)
    return pair


@pytest.mark.parametrize("photons", [0.0, 3, 5, 12, 25, 60, 500])
@pytest.mark.parametrize("words", [0, 1, 619])
def test_counts_and_state_are_those_of_numpy(photons, words):
    ours, theirs = generators(words)
    rate = np.random.default_rng(0).choice(LEVELS, (100, 50, 3)) * photons
    assert np.array_equal(poisson(ours, rate), theirs.poisson(rate))
    for one, other in zip(ours.get_state(), theirs.get_state(), strict=True):
        assert np.array_equal(one, other)


def test_more_rates_than_are_kept_are_drawn_all_the_same():
    ours, theirs = generators(5)
    rate = np.linspace(0, 80, 3_000)
    assert np.array_equal(poisson(ours, rate), theirs.poisson(rate))
    assert ours.random_sample() == theirs.random_sample()


@pytest.mark.parametrize("rate", [-1.0, np.nan, np.inf])
def test_a_rate_that_is_none_is_refused_by_numpy(rate):
    with pytest.raises(ValueError, match="lam"):
        poisson(np.random.RandomState(0), np.array([1.0, rate]))


def test_a_generator_of_another_kind_is_drawn_from_all_the_same():
    ours, theirs = (np.random.RandomState(np.random.PCG64(3)) for _ in range(2))
    assert np.array_equal(poisson(ours, LEVELS * 60), theirs.poisson(LEVELS * 60))
