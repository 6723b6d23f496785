"""Intervals: exact on the published counts, honest about their coverage, wider for clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ops.errors import ShiftlakeError
from ops.metrics import clopper_pearson, clustered_interval, keyed_generator


@pytest.mark.parametrize(
    ("k", "n", "value", "lo", "hi"),
    [
        (749, 1109, 67.538, 64.69, 70.29),
        (582, 1109, 52.480, 49.49, 55.45),
        (1158, 2030, 57.044, 54.86, 59.21),
        (890, 2030, 43.842, 41.67, 46.03),
    ],
)
def test_the_published_resnet50_video_intervals(k, n, value, lo, hi):
    found_lo, found_hi = clopper_pearson(k, n)
    assert round(100 * k / n, 3) == value
    assert (round(100 * float(found_lo), 2), round(100 * float(found_hi), 2)) == (lo, hi)


def test_edges_are_closed_and_no_trials_say_nothing():
    lo, hi = clopper_pearson([0, 10, 0], [10, 10, 0])
    assert lo[0] == 0
    assert hi[1] == 1
    # At k = 0 and k = n the one open side has the closed form 1 - (alpha/2)^(1/n).
    assert hi[0] == pytest.approx(1 - 0.025 ** (1 / 10))
    assert lo[1] == pytest.approx(0.025 ** (1 / 10))
    assert np.isnan([lo[2], hi[2]]).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_bound_leaves_half_alpha_in_its_tail(data):
    n = data.draw(st.integers(1, 5000))
    k = data.draw(st.integers(0, n))
    alpha = data.draw(st.sampled_from([0.01, 0.05, 0.2]))
    lo, hi = clopper_pearson(k, n, alpha)
    if k > 0:
        assert binom.sf(k - 1, n, float(lo)) == pytest.approx(alpha / 2, rel=1e-5)
    if k < n:
        assert binom.cdf(k, n, float(hi)) == pytest.approx(alpha / 2, rel=1e-5)
    assert lo <= k / n <= hi


@pytest.mark.parametrize("p", [0.02, 0.31, 0.5, 0.97])
@pytest.mark.parametrize("n", [7, 60])
def test_the_interval_covers_the_truth_at_least_as_often_as_it_says(p, n):
    k = np.arange(n + 1)
    lo, hi = clopper_pearson(k, n)
    covered = binom.pmf(k, n, p)[(lo <= p) & (p <= hi)].sum()
    assert covered >= 0.95


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (1.5, 5), ([1, 9], [5, 5])])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ShiftlakeError, match="0 <= k <= n"):
        clopper_pearson(k, n)


def test_an_impossible_alpha_is_refused():
    with pytest.raises(ShiftlakeError, match="0 < alpha < 1"):
        clopper_pearson(1, 2, alpha=5)


def test_a_clustered_interval_is_as_wide_as_the_clusters_demand():
    rng = np.random.default_rng(0)
    renderings = 75
    # Every photograph is all wrong or all right: 75 rows carry one photograph's information.
    wrong = rng.random(400) < 0.4
    _, lo, hi = clustered_interval(wrong.astype(float))
    row_lo, row_hi = clopper_pearson(wrong.sum() * renderings, 400 * renderings)
    assert (hi - lo) / (row_hi - row_lo) == pytest.approx(np.sqrt(renderings), rel=0.02)


def test_one_cluster_has_no_interval():
    mean, lo, hi = clustered_interval(np.array([0.3]))
    assert mean == 0.3
    assert np.isnan([lo, hi]).all()


def test_random_numbers_depend_on_the_key_alone():
    first = keyed_generator("imagenet_o", "a").random(3)
    assert (first == keyed_generator("imagenet_o", "a").random(3)).all()
    assert (first != keyed_generator("imagenet_o", "b").random(3)).all()


def test_no_variation_between_images_gives_no_interval_rather_than_one_of_no_width():
    mean, lo, hi = clustered_interval(np.full(40, 0.25))
    assert mean == 0.25
    assert np.isnan(lo)
    assert np.isnan(hi)
