"""Calibration: closed forms, the published code's missing bin, and what ties must not decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.calibration import calibration_curve

from ops.errors import ShiftlakeError
from ops.metrics import (
    aurra,
    confidence_histogram,
    ece,
    reliability,
    rms_calib,
    rms_calib_legacy,
)

answers = st.integers(1, 400).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float32, n, elements=st.floats(0, 1, width=32)), hnp.arrays(bool, n)
    )
)


def _made(n, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 2, n)
    return confidence, rng.random(n) < confidence**2


@pytest.mark.parametrize("n", [1, 99, 100, 250, 7500])
def test_always_sure_and_always_wrong_is_as_far_off_as_it_is_sure(n):
    confidence, wrong = np.full(n, 0.75), np.zeros(n, bool)
    assert rms_calib(confidence, wrong) == pytest.approx(0.75)
    assert ece(confidence, wrong) == pytest.approx(0.75)
    assert aurra(confidence, wrong) == 0


@pytest.mark.parametrize(
    ("n", "published", "corrected"),
    [(7500, 41.295, 41.707), (2000, 39.27, 41.22), (350, 31.2, 42.1)],
)
def test_the_published_code_leaves_the_most_confident_bin_out(n, published, corrected):
    # Equally wrong in every bin, what is lost is that bin's share of the images: the most at 350,
    # where it holds 150. The random model of the published figures is worst in that bin.
    last = 100 + n % 100
    confidence, wrong = np.full(n, 0.41), np.zeros(n, bool)
    ratio = rms_calib_legacy(confidence, wrong) / rms_calib(confidence, wrong)
    assert ratio == pytest.approx(np.sqrt(1 - last / n))
    assert published / corrected < ratio


@pytest.mark.parametrize("n", [100, 150, 199])
def test_with_one_bin_the_published_error_is_zero_whatever_the_model_does(n):
    assert rms_calib_legacy(np.ones(n), np.zeros(n, bool)) == 0.0
    assert rms_calib(np.ones(n), np.zeros(n, bool)) == 1.0


def test_with_fewer_images_than_a_bin_the_published_error_is_refused():
    with pytest.raises(ShiftlakeError, match="at least 100 images"):
        rms_calib_legacy(np.ones(99), np.zeros(99, bool))


@settings(max_examples=60, deadline=None)
@given(answers)
def test_legacy_is_corrected_less_the_last_bin(rows):
    confidence, correct = rows
    n = len(confidence)
    if n < 100:
        return
    order = np.argsort(confidence, kind="stable")
    last = order[(n // 100 - 1) * 100 :]
    gap = confidence[last].astype(float).mean() - correct[last].mean()
    whole, legacy = rms_calib(confidence, correct), rms_calib_legacy(confidence, correct)
    assert legacy <= whole
    assert whole**2 - legacy**2 == pytest.approx(len(last) / n * gap**2, abs=1e-9)


def test_rms_calibration_by_hand():
    # 230 images: 100 at 0.2 of which 10 are right, and 130 at 0.9 of which 91 are.
    confidence = np.r_[np.full(130, 0.9), np.full(100, 0.2)]
    correct = np.r_[np.arange(130) < 91, np.arange(100) < 10]
    expected = np.sqrt(100 / 230 * 0.1**2 + 130 / 230 * 0.2**2)
    assert rms_calib(confidence, correct) == pytest.approx(expected)
    assert rms_calib_legacy(confidence, correct) == pytest.approx(np.sqrt(100 / 230) * 0.1)
    assert ece(confidence, correct) == pytest.approx(100 / 230 * 0.1 + 130 / 230 * 0.2)


def test_the_reliability_diagram_is_scikit_learns():
    confidence, correct = _made(5000)
    found = reliability(confidence, correct, 15)
    accuracy, mean = calibration_curve(correct, confidence, n_bins=15)
    filled = found.n > 0
    assert found.accuracy[filled] == pytest.approx(accuracy)
    assert found.confidence[filled] == pytest.approx(mean)
    assert found.n.sum() == 5000
    expected = np.sum(found.n[filled] / 5000 * np.abs(accuracy - mean))
    assert ece(confidence, correct) == pytest.approx(expected)


def test_bins_are_open_below_and_closed_above():
    found = reliability(np.array([0.0, 0.2, 0.2000001, 1.0]), np.ones(4, bool), 5)
    assert found.n.tolist() == [2, 1, 0, 0, 1]
    assert np.isnan(found.accuracy[[2, 3]]).all()


@settings(max_examples=60, deadline=None)
@given(answers)
def test_calibration_errors_and_aurra_are_shares(rows):
    for metric in (ece, rms_calib, aurra):
        assert 0 <= metric(*rows) <= 1


@settings(max_examples=40, deadline=None)
@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_the_images_matters_to_ties_alone(rows, random):
    confidence, correct = rows
    order = list(range(len(confidence)))
    random.shuffle(order)
    assert ece(confidence[order], correct[order]) == pytest.approx(ece(confidence, correct))
    # With the sample key as second key, given here by the place in the file, it never matters.
    keys = np.array(order)
    sorted_again = np.argsort(keys)
    back = confidence[order][sorted_again], correct[order][sorted_again]
    assert aurra(*back) == aurra(confidence, correct)
    assert rms_calib(*back) == rms_calib(confidence, correct)


def test_aurra_by_hand_and_ties_in_the_order_of_the_keys():
    confidence = np.array([0.9, 0.5, 0.7])
    # By confidence: right, right, wrong.
    assert aurra(confidence, np.array([True, False, True])) == pytest.approx((1 + 1 + 2 / 3) / 3)
    tied = np.full(2, 0.5)
    assert aurra(tied, np.array([True, False])) == 0.75
    assert aurra(tied, np.array([False, True])) == 0.25


def test_confidence_that_knows_nothing_gives_aurra_the_accuracy():
    rng = np.random.default_rng(1)
    correct = rng.random(20000) < 0.3
    assert aurra(rng.random(20000), correct) == pytest.approx(correct.mean(), abs=0.02)


def test_the_histogram_counts_every_readable_image_once():
    found = confidence_histogram(np.array([0.0, 0.05, 0.0999, 0.1, 0.97, 1.0, np.nan]), 10)
    assert found.tolist() == [3, 1, 0, 0, 0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("confidence", [[0.2, 1.3], [np.nan, 0.5], [-0.1, 0.5], [0.5]])
def test_what_is_no_probability_is_refused(confidence):
    for metric in (ece, rms_calib, aurra):
        with pytest.raises(ShiftlakeError, match="one probability"):
            metric(np.array(confidence), np.array([True, False]))


def test_no_images_have_no_calibration():
    with pytest.raises(ShiftlakeError, match="one probability"):
        ece(np.empty(0), np.empty(0, bool))
