"""Error consistency: Cohen's kappa of two models being right, its bounds and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.metrics import error_consistency, keyed_generator
from ops.metrics.fleiss_kappa import fleiss_kappa

counts = st.tuples(*[st.integers(0, 400)] * 4).filter(lambda each: sum(each) > 0)


def kappa_by_hand(first, second):
    """From the answers themselves, as the paper writes it."""
    p, q = np.mean(first), np.mean(second)
    observed, expected = np.mean(first == second), p * q + (1 - p) * (1 - q)
    return (observed - expected) / (1 - expected)


def table_of(first, second):
    return (
        int((first & second).sum()),
        int((first & ~second).sum()),
        int((~first & second).sum()),
        int((~first & ~second).sum()),
    )


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_formula_of_the_paper_on_answers(seed):
    rng = np.random.default_rng(seed)
    first = rng.random(300) < 0.76
    second = np.where(rng.random(300) < 0.4, first, rng.random(300) < 0.6)
    found = error_consistency(*table_of(first, second))
    assert float(found.kappa) == pytest.approx(kappa_by_hand(first, second))
    assert float(found.observed) == pytest.approx(np.mean(first == second))
    assert found.lo < found.kappa < found.hi


@given(counts)
def test_all_of_it_stays_in_its_range(table):
    found = error_consistency(*table)
    assert 0 <= found.observed <= 1
    assert 0 <= found.expected <= 1 + 1e-12
    if np.isnan(found.kappa):
        both_right, only_first, only_second, both_wrong = table
        assert only_first == only_second == 0
        assert 0 in (both_right, both_wrong)
        assert np.isnan(found.lo)
        assert np.isnan(found.hi)
    else:
        assert -1 <= found.lo <= found.kappa <= found.hi <= 1
        assert found.lo < found.hi
    if not np.isnan(found.kappa_over_max):
        assert found.kappa_over_max <= 1 + 1e-9
        assert abs(found.kappa_over_max) >= abs(found.kappa) - 1e-9


@given(counts)
def test_neither_the_order_of_the_models_nor_what_counts_as_right_matters(table):
    both_right, only_first, only_second, both_wrong = table
    found = error_consistency(*table)
    for other in (
        error_consistency(both_right, only_second, only_first, both_wrong),
        error_consistency(both_wrong, only_second, only_first, both_right),
    ):
        for name in ("observed", "expected", "kappa", "lo", "hi"):
            assert getattr(found, name) == pytest.approx(getattr(other, name), nan_ok=True)


@given(st.integers(1, 400), st.integers(1, 400))
def test_the_same_errors_are_one_and_none_in_common_is_no_more_than_zero(right, wrong):
    same = error_consistency(right, 0, 0, wrong)
    assert same.kappa == pytest.approx(1)
    # One more image that tells them apart cannot be ruled out.
    assert same.lo < 1
    assert error_consistency(right, wrong, wrong, 0).kappa <= 0


def test_independent_models_agree_as_by_chance():
    # 80 % and 60 %: 480, 320, 120 and 80 of 1,000.
    found = error_consistency(480, 320, 120, 80)
    assert float(found.kappa) == pytest.approx(0)
    assert float(found.expected) == pytest.approx(0.56)
    assert found.lo < 0 < found.hi


def test_the_variant_reaches_one_where_the_worse_model_errs_wherever_the_better_does():
    found = error_consistency(600, 200, 0, 200)
    # 80 % and 60 %: they agree on 0.8 of the images, and would on 0.56 by chance.
    assert float(found.kappa) == pytest.approx((0.8 - 0.56) / (1 - 0.56))
    assert float(found.kappa_over_max) == pytest.approx(1)
    # One that is never wrong says nothing of where.
    alone = error_consistency(600, 400, 0, 0)
    assert float(alone.kappa) == 0
    assert np.isnan(alone.kappa_over_max)


@pytest.mark.parametrize(("p", "q", "kappa", "n"), [(0.76, 0.8, 0.4, 200), (0.95, 0.95, 0.8, 200)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(p, q, kappa, n):
    expected = p * q + (1 - p) * (1 - q)
    both = (kappa * (1 - expected) + expected + p + q - 1) / 2
    shares = [both, p - both, q - both, 1 - p - q + both]
    drawn = keyed_generator("error consistency", str(p)).multinomial(n, shares, size=4_000)
    found = error_consistency(*drawn.T)
    held = (found.lo <= kappa) & (kappa <= found.hi)
    assert 0.93 <= held.mean() <= 0.98


def test_of_two_raters_with_equal_shares_it_is_the_kappa_of_fleiss():
    table = (60, 12, 12, 16)
    ratings = np.repeat([[2, 0], [1, 1], [1, 1], [0, 2]], table, axis=0)
    assert float(error_consistency(*table).kappa) == pytest.approx(fleiss_kappa(ratings).kappa)


@pytest.mark.parametrize("bad", [(-1, 0, 0, 1), (1.5, 0, 0, 1), (np.nan, 0, 0, 1)])
def test_impossible_counts_are_refused(bad):
    with pytest.raises(ShiftlakeError, match="numbers of images"):
        error_consistency(*bad)
    with pytest.raises(ShiftlakeError, match="0 < alpha < 1"):
        error_consistency(1, 1, 1, 1, alpha=0)
