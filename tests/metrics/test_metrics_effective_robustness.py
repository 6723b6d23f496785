"""The line in the logits, the distance from it, and the published refit."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.metrics.effective_robustness import (
    MIN_POOL,
    LogitFit,
    effective_robustness,
    expit,
    fit_band,
    fit_line,
    logit,
)
from ops.results.reference import model_kind

# The testbed's grid, robustness_top1s.csv of modestyachts/imagenet-testbed.
GRID = os.environ.get("SHIFTLAKE_TESTBED_GRID", "")


def scattered(seed=0, n=40):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.4, 0.9, n)
    return x, scipy.special.expit(0.9 * scipy.special.logit(x) - 0.5 + rng.normal(0, 0.1, n))


def test_a_known_line_is_found_again():
    x = np.linspace(0.3, 0.95, 20)
    y = expit(0.9232 * logit(x) - 0.4977)
    fit = fit_line(x, y)
    assert fit.slope == pytest.approx(0.9232, rel=1e-12)
    assert fit.intercept == pytest.approx(-0.4977, rel=1e-12)
    assert fit.n == 20
    assert effective_robustness(fit, x, y) == pytest.approx(np.zeros(20), abs=1e-10)


def test_as_scipy_and_numpy_fit_it():
    x, y = scattered()
    fit = fit_line(x, y)
    theirs = scipy.stats.linregress(scipy.special.logit(x), scipy.special.logit(y))
    assert (fit.slope, fit.intercept) == pytest.approx((theirs.slope, theirs.intercept), rel=1e-12)
    poly = np.polyfit(scipy.special.logit(x), scipy.special.logit(y), 1)
    assert (fit.slope, fit.intercept) == pytest.approx(tuple(poly), rel=1e-9)


def test_resnet50_on_matched_frequency_lies_below_the_published_line():
    """Slope, intercept and -0.74 points of the refit of the testbed's grid."""
    fit = LogitFit(0.9232, -0.4977, 85)
    assert effective_robustness(fit, 0.7613, 0.6321) == pytest.approx(-0.74, abs=0.03)


def test_nothing_and_everything_right_are_left_out():
    x, y = scattered()
    with_extremes = fit_line(np.append(x, [0.76, 1.0, np.nan]), np.append(y, [0.0, 0.5, 0.5]))
    assert with_extremes == fit_line(x, y)


def test_too_few_models_are_refused():
    x, y = scattered(n=MIN_POOL - 1)
    with pytest.raises(ShiftlakeError, match=r"at least 10[\s\S]*9 with"):
        fit_line(x, y)
    with pytest.raises(ShiftlakeError, match=r"of different accuracy"):
        fit_line(np.full(20, 0.7), np.linspace(0.3, 0.6, 20))


@given(st.floats(0, 1))
def test_expit_undoes_logit(share):
    assert expit(logit(share)) == pytest.approx(share, abs=1e-12)


@given(st.floats(-1e4, 1e4))
def test_expit_is_scipys(value):
    assert expit(value) == pytest.approx(scipy.special.expit(value), abs=1e-15)


def test_the_band_is_that_of_a_plain_bootstrap():
    x, y = scattered(n=30)
    at = np.array([0.5, 0.7, 0.9])
    lo, hi = fit_band(x, y, at, "a", "b", resamples=2000)
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(1000):
        i = rng.integers(0, 30, 30)
        fitted = scipy.stats.linregress(scipy.special.logit(x[i]), scipy.special.logit(y[i]))
        lines.append(scipy.special.expit(fitted.slope * logit(at) + fitted.intercept))
    theirs = np.quantile(lines, [0.025, 0.975], axis=0)
    assert np.array([lo, hi]) == pytest.approx(theirs, abs=0.006)
    assert np.all(lo < fit_line(x, y).expected(at))
    assert np.all(fit_line(x, y).expected(at) < hi)
    # Best known in the middle of the models.
    assert (hi - lo)[1] < (hi - lo)[0]


def test_the_band_depends_on_its_name_alone():
    x, y = scattered(n=30)
    first = np.array(fit_band(x, y, [0.7], "imagenet_r"))
    assert np.array_equal(first, fit_band(x, y, [0.7], "imagenet_r"))
    assert not np.array_equal(first, fit_band(x, y, [0.7], "imagenet_a"))


@pytest.mark.skipif(not GRID, reason="SHIFTLAKE_TESTBED_GRID names the published grid")
@pytest.mark.parametrize(
    ("id_setting", "setting", "slope", "intercept", "n"),
    [
        ("val", "imagenetv2-matched-frequency-format-val", 0.9232, -0.4977, 85),
        ("val", "objectnet-1.0-beta", 1.1993, -2.0243, None),
        ("val-on-vid-robust-classes", "imagenet-vid-robust_pm0", 0.5336, -1.4617, None),
        ("val", "imagenet-sketch", 1.0709, -2.3701, None),
        ("val-on-imagenet-r-classes", "imagenet-r", 0.6368, -2.1077, 80),
    ],
)
def test_the_published_refit(id_setting, setting, slope, intercept, n):
    with Path(GRID).open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if model_kind(row["model"]) == "standard" and float(row["val"] or 0) >= 55
        ]
    pairs = [
        (float(row[id_setting]) / 100, float(row[setting]) / 100)
        for row in rows
        if row[id_setting] and row[setting]
    ]
    fit = fit_line(*np.array(pairs).T)
    assert (fit.slope, fit.intercept) == pytest.approx((slope, intercept), abs=5e-5)
    assert n is None or fit.n == n
