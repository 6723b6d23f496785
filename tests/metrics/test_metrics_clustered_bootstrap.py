"""The bootstrap over source images: right width, whole clusters, the same bits everywhere."""

import hashlib
import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binom

from ops.errors import ShiftlakeError
from ops.metrics import (
    alexnet_errors,
    clopper_pearson,
    clustered_bootstrap,
    clustered_interval,
    corruptions_15,
    forget_draws,
    keyed_generator,
    mce_pct,
    percentile_interval,
    resampled_means,
)
from ops.metrics.clustered_interval import METHOD, WIDER, effective_images

# The package has a function of the same name.
module = importlib.import_module("ops.metrics.clustered_bootstrap")


def test_of_one_proportion_the_bounds_are_the_quantiles_of_the_binomial():
    mean, lo, hi = clustered_bootstrap(np.arange(400) < 120)
    assert mean == 0.3
    for bound, level in ((lo, 0.025), (hi, 0.975)):
        assert abs(400 * bound - binom.ppf(level, 400, 0.3)) <= 1


def test_the_spread_is_the_standard_error_of_the_mean():
    score = np.random.default_rng(0).gamma(2.0, size=500)
    drawn = resampled_means(score[:, None])
    assert drawn.shape == (10_000, 1)
    assert drawn.mean() == pytest.approx(score.mean(), rel=2e-3)
    assert drawn.std() == pytest.approx(score.std() / np.sqrt(500), rel=0.03)


def test_it_is_the_plain_loop_over_resamples():
    # One generator, one draw of all images after another: the definition, written out.
    rng = np.random.default_rng(1)
    total = rng.integers(0, 9, (2**18, 2))
    images = keyed_generator("source images", str(2**18))
    expected = [total[images.integers(0, 2**18, 2**18, np.uint32)].mean(axis=0) for _ in range(3)]
    assert resampled_means(total, resamples=3).tolist() == np.array(expected).tolist()


def test_a_clustered_interval_is_as_wide_as_the_clusters_demand():
    rng = np.random.default_rng(0)
    renderings = 75
    # Every photograph is all wrong or all right: 75 rows carry one photograph's information.
    wrong = rng.random(400) < 0.4
    _, lo, hi = clustered_bootstrap(wrong)
    row_lo, row_hi = clopper_pearson(wrong.sum() * renderings, 400 * renderings)
    assert (hi - lo) / (row_hi - row_lo) == pytest.approx(np.sqrt(renderings), rel=0.05)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.3, 0.7))
def test_clusters_that_agree_make_an_interval_wider_than_rows_would(seed, share):
    rng = np.random.default_rng(seed)
    difficulty = rng.random((60, 1))
    wrong = rng.random((60, 20)) * 0.3 + difficulty * 0.7 < share
    _, lo, hi = clustered_bootstrap(wrong.mean(axis=1), resamples=500)
    row_lo, row_hi = clopper_pearson(wrong.sum(), wrong.size)
    assert hi - lo > row_hi - row_lo


def test_conditions_are_resampled_jointly():
    # Wrong in exactly one of two conditions: each error varies, and their sum cannot.
    wrong = np.random.default_rng(2).random(100) < 0.5
    drawn = resampled_means(np.stack([wrong, ~wrong], axis=1), resamples=300)
    assert np.ptp(drawn[:, 0]) > 0.1
    assert drawn.sum(axis=1) == pytest.approx(1)
    assert np.isnan(percentile_interval(drawn.sum(axis=1))).all()


def test_a_ratio_of_sums_where_images_have_different_numbers_of_rows():
    rng = np.random.default_rng(3)
    size = rng.integers(0, 4, (50, 2))
    total = rng.binomial(size, 0.4)
    images = keyed_generator("source images", "50").integers(0, 50, (5, 50), np.uint32)
    expected = [total[own].sum(axis=0) / size[own].sum(axis=0) for own in images]
    assert resampled_means(total, size, resamples=5) == pytest.approx(np.array(expected))
    # The same number of rows everywhere is the plain mean.
    even = resampled_means(total, np.full((50, 2), 3), resamples=5)
    assert even == pytest.approx(resampled_means(total, resamples=5) / 3)


def test_fewer_resamples_are_the_first_ones_and_columns_do_not_matter_to_each_other():
    total = np.random.default_rng(4).random((70, 6))
    many = resampled_means(total, resamples=700)
    assert (resampled_means(total, resamples=300) == many[:300]).all()
    assert (resampled_means(total[:, 2:4], resamples=700) == many[:, 2:4]).all()


CODE = """
import hashlib, numpy as np
from ops.metrics import resampled_means
rng = np.random.default_rng(5)
shape = 3000, 7
for total in (rng.random(shape) < 0.4, rng.random(shape) * 18, rng.gamma(0.1, 9, shape)):
    print(hashlib.sha256(resampled_means(total, resamples=300).tobytes()).hexdigest())
"""


@pytest.mark.parametrize(
    "variables", [{"OPENBLAS_NUM_THREADS": "2"}, {"OPENBLAS_CORETYPE": "NEHALEM"}]
)
def test_no_bit_depends_on_threads_or_the_processor(variables):
    def answer(**others):
        return subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, **others},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert answer(OPENBLAS_NUM_THREADS="1") == answer(**variables)


@settings(max_examples=25, deadline=None)
@given(hnp.arrays(np.float64, (9, 3), elements=st.floats(-1e6, 1e6)))
def test_sums_on_the_grid_lose_nothing_that_matters(total):
    drawn = resampled_means(total, resamples=40)
    images = keyed_generator("source images", "9").integers(0, 9, (2**18 // 9, 9), np.uint32)[:40]
    scale = max(1e-280, np.abs(total).max())
    assert np.abs(drawn - total[images].mean(axis=1)).max() <= 1e-12 * scale


def test_mce_is_resampled_with_fixed_denominators():
    names, alexnet = corruptions_15(), alexnet_errors()
    rng = np.random.default_rng(6)
    wrong = rng.random((80, 15)) < 0.5
    drawn = resampled_means(wrong, resamples=400)
    found = mce_pct(dict(zip(names, drawn.T, strict=True)), alexnet)
    # One score an image, its errors over AlexNet's: the mean of these is mCE.
    score = (wrong * [100 / 15 / alexnet.mean[name] for name in names]).sum(axis=1)
    assert found == pytest.approx(resampled_means(score[:, None], resamples=400)[:, 0])
    assert percentile_interval(found)[0] < score.mean() < percentile_interval(found)[1]


@pytest.mark.parametrize("score", [[0.3], [0.25] * 40, [0.1] * 3])
def test_no_variation_between_images_gives_no_interval_rather_than_one_of_no_width(score):
    mean, lo, hi = clustered_bootstrap(np.array(score))
    assert mean == pytest.approx(score[0])
    assert np.isnan([lo, hi]).all()


def test_a_resample_without_a_row_gives_no_interval():
    size = np.zeros((20, 1))
    size[0] = 1
    drawn = resampled_means(size, size, resamples=200)
    assert np.isnan(drawn).any()
    assert np.isnan(percentile_interval(drawn[:, 0])).all()


@pytest.mark.parametrize("total", [np.zeros((0, 2)), np.zeros(4), np.array([[np.nan]])])
def test_what_cannot_be_resampled_is_refused(total):
    with pytest.raises(ShiftlakeError, match="at least one image"):
        resampled_means(total)


def test_the_draws_are_these():
    # Changing them changes every interval of every lake: raise DEFINITIONS when you do.
    drawn = resampled_means(np.arange(100.0)[:, None], resamples=1000)
    digest = hashlib.sha256(drawn.tobytes()).hexdigest()
    assert digest[:16] == "3ee9a671577cbe9d"


@pytest.mark.parametrize("wrong", [1, 5, 20, 25, 45, 49])
def test_few_images_that_differ_have_an_exact_interval(wrong):
    score = np.arange(50) < wrong
    few = min(wrong, 50 - wrong)
    _, lo, hi = clustered_bootstrap(score)
    drawn = resampled_means(score[:, None])[:, 0]
    exact = [float(bound) for bound in clopper_pearson(wrong, 50)]
    assert clustered_interval(score, drawn) == (lo, hi, WIDER)
    assert effective_images(score) == pytest.approx(few)
    narrow = percentile_interval(drawn)
    assert [lo, hi] == pytest.approx([min(narrow[0], exact[0]), max(narrow[1], exact[1])])
    # One wrong photograph in fifty: 10.6 % would have shown as little.
    assert wrong != 1 or hi == pytest.approx(0.1065, abs=1e-4)


def test_many_images_that_differ_have_the_bootstrap_alone():
    score = np.random.default_rng(7).random(400)
    drawn = resampled_means(score[:, None], resamples=400)[:, 0]
    assert clustered_interval(score, drawn) == (*percentile_interval(drawn), METHOD)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.float64, st.integers(5, 40), elements=st.integers(-8, 8).map(float)))
def test_few_images_never_narrow_an_interval_and_turn_with_its_sign(score):
    drawn = resampled_means(score[:, None], resamples=200)[:, 0]
    lo, hi, method = clustered_interval(score, drawn)
    narrow = percentile_interval(drawn)
    if np.isnan(narrow[0]):
        assert np.isnan([lo, hi]).all()
        return
    assert method == (WIDER if effective_images(score) < 30 else METHOD)
    assert lo <= narrow[0] < narrow[1] <= hi
    # An odd number has one median: everything else is symmetric.
    if len(score) % 2:
        other = clustered_interval(-score, -drawn)
        assert other[:2] == pytest.approx((-hi, -lo))


def test_draws_are_made_once_and_kept_draws_are_the_same(monkeypatch):
    forget_draws()
    total = np.random.default_rng(8).integers(0, 9, (33, 2))
    made = []
    draw = module._resamples
    monkeypatch.setattr(module, "_resamples", lambda n: made.append(n) or draw(n))
    first = resampled_means(total)
    assert list(module._kept) == [33]
    assert module._kept[33].nbytes == 10_000 * 17
    monkeypatch.setattr(module, "_resamples", lambda n: iter(()))
    assert resampled_means(total).tobytes() == first.tobytes()
    assert resampled_means(total, resamples=300).tobytes() == first[:300].tobytes()
    assert made == [33]
    forget_draws()
    assert not module._kept


def test_kept_draws_are_bounded_and_a_count_beyond_four_bits_is_not_cut(monkeypatch):
    forget_draws()
    # Two sets of 40 images fit, or one and one of 20; those asked for last stay.
    monkeypatch.setattr(module, "KEPT", 10_000 * 45)
    for images in (40, 39, 40, 20, 12, 200):
        resampled_means(np.eye(images)[:, :1])
    assert sum(kept.nbytes for kept in module._kept.values()) <= module.KEPT
    assert list(module._kept) == [40, 20, 12]
    forget_draws()
    monkeypatch.setattr(module, "_resamples", lambda n: iter([np.array([17, 0])] * 10_000))
    assert (resampled_means(np.array([[1.0], [0.0]])) == 17 / 2).all()
    assert not module._kept
