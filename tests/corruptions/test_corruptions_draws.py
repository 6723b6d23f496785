"""Draws: Philox as published, keys that never meet, tables that follow their laws."""

import hashlib

import numpy as np
import pytest
from scipy import stats

from ops.corruptions import Key, laws, philox
from ops.corruptions.draws import Replay
from ops.corruptions.keyed import PURPOSES, Keyed

BASE = Keyed(Key("ILSVRC2012_val_00000001", dataset="imagenet_c"), "gaussian_noise", 1)
# One thing other than in BASE each; the second purpose is of the same source of draws.
NEIGHBOURS = {
    "source key": Keyed(Key("ILSVRC2012_val_00000002", dataset="imagenet_c"), "gaussian_noise", 1),
    "seed": Keyed(
        Key("ILSVRC2012_val_00000001", seed=1, dataset="imagenet_c"), "gaussian_noise", 1
    ),
    "dataset": Keyed(Key("ILSVRC2012_val_00000001", dataset="imagenet_p"), "gaussian_noise", 1),
    "corruption": Keyed(Key("ILSVRC2012_val_00000001", dataset="imagenet_c"), "speckle_noise", 1),
    "severity": Keyed(Key("ILSVRC2012_val_00000001", dataset="imagenet_c"), "gaussian_noise", 2),
    "part": Keyed(
        Key("ILSVRC2012_val_00000001", dataset="imagenet_c"), "gaussian_noise", 1, part=1
    ),
}
N = 400_000


@pytest.mark.parametrize(
    ("key", "counter", "block"),
    [
        ((0, 0), (0, 0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 4, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0xA4093822, 0x299F31D0),
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_known_answers_of_its_authors(key, counter, block):
    assert [f"{word:08x}" for word in philox.words(key, counter, 4)] == block.split()


@pytest.mark.parametrize("n", [1, 3, 4, 5, 1000, 1003])
def test_words_lie_in_planes_of_blocks(n):
    blocks = -(-n // 4)
    one_by_one = np.stack([philox.words((7, 8), (b, 3, 2, 1), 4) for b in range(blocks)])
    assert np.array_equal(philox.words((7, 8), (0, 3, 2, 1), n), one_by_one.T.ravel()[:n])


def test_a_key_is_the_digest_of_everything_that_tells_draws_apart():
    key = Keyed(Key("n01440764/x", seed=7, dataset="imagenet_p"), "fog", 3).philox_key
    text = b"7\0imagenet_p\0fog\x003\0n01440764/x"
    digest = np.frombuffer(hashlib.blake2b(text, digest_size=8).digest(), "<u4")
    assert key == tuple(digest)


def test_purpose_and_part_are_in_the_counter():
    source = Keyed(Key("x", dataset="imagenet_c"), "fog", 3, part=5)
    expected = philox.words(source.philox_key, (0, PURPOSES["angle"], 5, 0), 10)
    assert np.array_equal(source.words("angle", 10), expected)
    first, second = source.words("angle", 2).tolist()
    halves = [first & 0xFFFF, first >> 16, second & 0xFFFF]
    assert source.halves("angle", 3).tolist() == halves


def test_no_two_purposes_share_a_code():
    assert len(set(PURPOSES.values())) == len(PURPOSES)


def test_draws_depend_on_the_purpose_alone_not_on_what_was_drawn_before():
    fresh = Keyed(BASE.key, BASE.corruption, BASE.severity)
    fresh.normal("layer", 0, 1, (100,))
    fresh.uniform("angle", -1, 1, ())
    assert np.array_equal(fresh.words("noise", 50), BASE.words("noise", 50))


@pytest.mark.parametrize("purpose", ["noise", "layer", "heights"])
def test_words_are_uniform_in_every_byte(purpose):
    words = BASE.words(purpose, N)
    for place in range(4):
        counts = np.bincount((words >> np.uint32(8 * place)) & 0xFF, minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-3
    pairs = (words[:-1] >> np.uint32(28)) * 16 + (words[1:] >> np.uint32(28))
    assert stats.chisquare(np.bincount(pairs, minlength=256)).pvalue > 1e-3


@pytest.mark.parametrize("lag", [1, 3, 672, 150_528 // 4, 150_528 // 2])
def test_samples_of_one_stream_are_uncorrelated(lag):
    u = BASE.uniform("noise", 0, 1, (N,))
    assert abs(np.corrcoef(u[:-lag], u[lag:])[0, 1]) < 4 / np.sqrt(N)


@pytest.mark.parametrize("other", NEIGHBOURS)
def test_what_differs_in_one_thing_draws_independently(other):
    ours, theirs = BASE.words("noise", N), NEIGHBOURS[other].words("noise", N)
    assert not (ours == theirs).any()
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 4 / np.sqrt(N)
    bits = np.unpackbits((ours ^ theirs).view(np.uint8)).mean()
    assert abs(bits - 0.5) < 4 * 0.5 / np.sqrt(32 * N)
    # Nor is one stream a shifted part of the other.
    assert len(np.intersect1d(ours, theirs)) < 100


def test_purposes_draw_independently():
    ours, theirs = BASE.uniform("noise", 0, 1, (N,)), BASE.uniform("layer", 0, 1, (N,))
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 4 / np.sqrt(N)


def test_uniform_numbers_fill_their_interval():
    u = BASE.uniform("angle", -45.0, 45.0, (1000, 400))
    assert u.shape == (1000, 400)
    assert u.min() >= -45
    assert u.max() < 45
    assert stats.kstest(u.ravel(), stats.uniform(-45, 90).cdf).pvalue > 1e-3
    assert BASE.uniform("angle", -45.0, 45.0, ()).shape == ()


def test_integers_are_equally_likely_and_below_their_bound():
    drawn = BASE.integers("shifts", -3, 3, (N,))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [-3, -2, -1, 0, 1, 2]
    assert stats.chisquare(counts).pvalue > 1e-3
    assert int(BASE.integers("row", 0, 1, ())) == 0


def test_the_normal_table_is_the_normal_law_and_the_same_everywhere():
    table = laws.normal()
    expected = stats.norm.ppf((np.arange(65536) + 0.5) / 65536)
    assert np.abs(table - expected).max() < 1e-3  # scaled up by 1 in 10,000
    assert (np.diff(table) > 0).all()
    assert np.array_equal(table, -table[::-1])
    assert abs(table.var() - 1) < 1e-7
    assert np.array_equal(table, table.astype(np.float32))
    digest = hashlib.sha256(table.astype("<f8").tobytes()).hexdigest()
    assert digest == "f9db0fe0b6bfd5f7a4d993ede59d572d8d23deb59e981e607d56bd8d65a4513b"


def test_normal_numbers_have_the_moments_of_their_law():
    z = BASE.normal("noise", 2.0, 3.0, (1_500_000,))
    assert abs(z.mean() - 2) < 4 * 3 / np.sqrt(z.size)
    assert abs(z.var() / 9 - 1) < 4 * np.sqrt(2 / z.size)
    standard = (z - 2) / 3
    assert abs((standard**3).mean()) < 4 * np.sqrt(15 / z.size)
    assert abs((standard**4).mean() - 3) < 4 * np.sqrt(96 / z.size)


@pytest.mark.parametrize("rate", [0.0, 0.011, 0.5, 3.0, 12.0, 60.0, 250.0, 300.0])
def test_poisson_tables_follow_the_law_to_the_resolution_of_a_half(rate):
    every_half = np.arange(65536).astype(np.uint16)
    counts = laws.poisson(np.array([rate])).counts(np.zeros(65536, int), every_half)
    found = np.bincount(counts, minlength=500) / 65536
    assert np.abs(found - stats.poisson.pmf(np.arange(500), rate)).max() < 2**-16
    assert abs(counts.mean() - rate) < 1e-3
    assert abs(counts.var() - rate) <= 2e-3 * rate


def test_a_count_depends_on_its_own_rate_alone():
    rates = np.linspace(0, 60, 150_528).round(1)
    together = BASE.poisson("counts", rates)
    alone = BASE.poisson("counts", np.full(rates.shape, rates[70_000]))
    assert together[70_000] == alone[70_000]
    assert np.abs(together - rates).max() < 6 * np.sqrt(60)


def test_impulses_have_their_share_of_salt_and_pepper():
    drawn = BASE.impulses("impulses", 0.27, (1_500_000,))
    for sign in (1, -1):
        share = (drawn == sign).mean()
        assert abs(share - 0.135) < 4 * np.sqrt(0.135 * 0.865 / drawn.size)


def test_a_replay_draws_what_the_generator_draws_in_the_same_order():
    replay, rng = Replay(np.random.RandomState(3)), np.random.RandomState(3)
    assert np.array_equal(replay.normal("layer", 0.1, 0.3, (4, 5)), rng.normal(0.1, 0.3, (4, 5)))
    assert float(replay.uniform("angle", -45, 45, ())) == rng.uniform(-45, 45)
    rates = np.array([0.0, 0.3, 8.0, 60.0])
    assert np.array_equal(replay.poisson("counts", rates), rng.poisson(rates))
    assert int(replay.integers("texture", 0, 5, ())) == rng.randint(5)
    assert np.array_equal(replay.integers("shifts", -2, 2, (9, 2)), rng.randint(-2, 2, (9, 2)))
    assert replay.rng.random_sample() == rng.random_sample()


@pytest.mark.parametrize("amount", [0.03, 0.06, 0.09, 0.17, 0.27])
def test_replayed_impulses_are_those_of_scikit_image_in_2018(amount):
    impulses = Replay(np.random.RandomState(11)).impulses("impulses", amount, (300, 3))
    rng = np.random.RandomState(11)
    flipped = rng.choice([True, False], (300, 3), p=[amount, 1 - amount])
    salted = rng.choice([True, False], (300, 3), p=[0.5, 0.5])
    assert np.array_equal(impulses == 1, flipped & salted)
    assert np.array_equal(impulses == -1, flipped & ~salted)
