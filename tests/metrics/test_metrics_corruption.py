"""ImageNet-C: the four quantities called mCE, on published errors and against AlexNet itself."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.metrics import (
    Normaliser,
    alexnet_errors,
    ce_pct,
    ce_severity_5_pct,
    corruptions_15,
    corruptions_19,
    mce_pct,
    mce_severity_5_pct,
    mean_error_pct,
    relative_ce_pct,
    relative_mce_pct,
)

ALEXNET = alexnet_errors()

# torchvision's ResNet-50 on the published images, as the log beside a robustness benchmark's code
# prints it: top-1 accuracy in percent, and CE.
RESNET_50_LOG = {
    "brightness": (68.02, 56.64),
    "contrast": (39.06, 71.43),
    "defocus_blur": (38.75, 74.71),
    "elastic_transform": (45.25, 84.75),
    "fog": (45.83, 66.11),
    "frost": (38.14, 74.84),
    "gaussian_noise": (29.29, 79.77),
    "glass_blur": (26.79, 88.61),
    "impulse_noise": (23.81, 82.58),
}

# Hendrycks and Dietterich, arXiv:1903.12261, table 1: CE of ResNet-50, rounded, in the order of
# the 15; its mCE is 76.7 and its clean error 23.9.
RESNET_50_PAPER = [80, 82, 83, 75, 89, 78, 80, 78, 75, 66, 57, 71, 85, 77, 77]


@pytest.mark.parametrize("name", sorted(RESNET_50_LOG))
def test_ce_of_published_accuracies(name):
    accuracy, ce = RESNET_50_LOG[name]
    # The accuracy is rounded to a hundredth, and CE is up to 1.8 times as fine.
    assert ce_pct(name, 1 - accuracy / 100, ALEXNET) == pytest.approx(ce, abs=0.015)


def test_the_papers_table_and_the_published_accuracies_agree():
    paper = dict(zip(corruptions_15(), RESNET_50_PAPER, strict=True))
    for name, (_, ce) in RESNET_50_LOG.items():
        assert round(ce) == paper[name]


def test_resnet_50_has_an_mce_of_76_7_and_an_accuracy_of_39_2():
    error = {
        name: ce / 100 * ALEXNET.mean[name]
        for name, ce in zip(corruptions_15(), RESNET_50_PAPER, strict=True)
    }
    # Each published CE is rounded to a whole percent, so their mean is within half of one.
    assert mce_pct(error, ALEXNET) == pytest.approx(76.7, abs=0.5)
    # Quoted for the same network: 39.2 % top-1, which is the unnormalised mean and no mCE.
    assert mean_error_pct(error, corruptions_15()) == pytest.approx(100 - 39.2, abs=0.4)


def test_alexnet_is_100_percent_of_itself():
    assert mce_pct(ALEXNET.mean, ALEXNET) == pytest.approx(100)
    assert relative_mce_pct(ALEXNET.mean, ALEXNET.clean, ALEXNET) == pytest.approx(100)
    severity_5 = {name: errors[4] for name, errors in ALEXNET.by_severity.items()}
    assert mce_severity_5_pct(severity_5, ALEXNET) == pytest.approx(100)
    for name in corruptions_19():
        error = ALEXNET.mean[name]
        assert ce_pct(name, error, ALEXNET) == pytest.approx(100)
        assert relative_ce_pct(name, error, ALEXNET.clean, ALEXNET) == pytest.approx(100)


def test_alexnets_own_errors_have_these_means():
    assert mean_error_pct(ALEXNET.mean, corruptions_15()) == pytest.approx(
        100 * sum(ALEXNET.mean[name] for name in corruptions_15()) / 15
    )
    # A mean of ratios is no ratio of means.
    error = dict.fromkeys(corruptions_15(), 0.5)
    ratio = 100 * 0.5 / np.mean([ALEXNET.mean[name] for name in corruptions_15()])
    assert mce_pct(error, ALEXNET) > ratio + 0.5


def test_the_denominators_agree_with_their_own_severities():
    assert len(corruptions_15()) == 15
    assert set(corruptions_19()) - set(corruptions_15()) == {
        "speckle_noise",
        "gaussian_blur",
        "spatter",
        "saturate",
    }
    for name, errors in ALEXNET.by_severity.items():
        assert np.mean(errors) == pytest.approx(ALEXNET.mean[name], abs=1e-6)


def test_the_extras_enter_the_mean_of_19_but_no_mce():
    error = dict.fromkeys(corruptions_19(), 0.5)
    worse = error | {"saturate": 0.9}
    assert mce_pct(worse, ALEXNET) == mce_pct(error, ALEXNET)
    assert relative_mce_pct(worse, 0.2, ALEXNET) == relative_mce_pct(error, 0.2, ALEXNET)
    assert mean_error_pct(worse, corruptions_15()) == 50
    assert mean_error_pct(worse, corruptions_19()) == pytest.approx(50 + 40 / 19)


def test_a_network_of_ones_own_takes_alexnets_place():
    own = Normaliser(
        clean=0.2,
        mean=dict.fromkeys(corruptions_15(), 0.5),
        by_severity={name: [0.3, 0.4, 0.5, 0.6, 0.7] for name in corruptions_15()},
    )
    error = dict.fromkeys(corruptions_15(), 0.35)
    assert mce_pct(error, own) == pytest.approx(70)
    # What corruption adds: 0.25 to a clean error of 0.1, against 0.3.
    assert relative_mce_pct(error, 0.1, own) == pytest.approx(100 * 0.25 / 0.3)
    assert mce_severity_5_pct(error, own) == pytest.approx(50)
    assert ce_severity_5_pct("fog", 0.07, own) == pytest.approx(10)


def test_corruption_that_helps_has_a_relative_ce_below_zero():
    assert relative_ce_pct("brightness", 0.2, 0.25, ALEXNET) < 0


@given(st.lists(st.floats(0, 1), min_size=15, max_size=15), st.permutations(range(15)))
def test_the_order_of_the_corruptions_is_of_no_account(errors, order):
    names = corruptions_15()
    error = dict(zip(names, errors, strict=True))
    shuffled = {names[i]: errors[i] for i in order}
    other = dataclasses.replace(ALEXNET, mean={names[i]: ALEXNET.mean[names[i]] for i in order})
    assert mce_pct(shuffled, other) == mce_pct(error, ALEXNET)


def test_formulas_apply_to_every_resample_alike():
    errors = np.random.default_rng(0).random((4, 15))
    names = corruptions_15()
    together = mce_pct(dict(zip(names, errors.T, strict=True)), ALEXNET)
    apart = [mce_pct(dict(zip(names, row, strict=True)), ALEXNET) for row in errors]
    assert together.tolist() == [float(value) for value in apart]
