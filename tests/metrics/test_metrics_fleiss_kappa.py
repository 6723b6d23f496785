"""Fleiss' kappa: the example it was published with, and agreement counted pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.metrics.fleiss_kappa import fleiss_kappa

# Fleiss (1971), table 1: six psychiatrists on thirty patients. Depression, personality disorder,
# schizophrenia, neurosis, other.
DIAGNOSES = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def table(text: str) -> list[list[int]]:
    return [[int(sign) for sign in row] for row in text.split()]


def test_the_example_of_1971() -> None:
    counts = table(DIAGNOSES)
    assert np.sum(counts, 0).tolist() == [26, 26, 30, 55, 43]
    found = fleiss_kappa(counts)
    assert found.observed == pytest.approx(0.556, abs=5e-4)
    assert found.expected == pytest.approx(0.220, abs=5e-4)
    assert found.kappa == pytest.approx(0.430, abs=5e-4)
    assert np.round(found.by_category, 3).tolist() == [0.245, 0.245, 0.520, 0.471, 0.566]


def test_fourteen_raters() -> None:
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = fleiss_kappa(counts)
    assert (round(found.observed, 3), round(found.expected, 3)) == (0.378, 0.213)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


def by_hand(ratings: list[list[int]], n_categories: int) -> float:
    """From the ratings themselves: every two raters of an item, and every two drawn by chance."""
    agree = [one == two for item in ratings for one, two in combinations(item, 2)]
    observed = sum(agree) / len(agree)
    said = [rating for item in ratings for rating in item]
    expected = sum((said.count(c) / len(said)) ** 2 for c in range(n_categories))
    return float("nan") if expected == 1 else (observed - expected) / (1 - expected)


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=20
        )
    )
)
def test_it_is_agreement_of_pairs_of_ratings_beyond_chance(ratings: list[list[int]]) -> None:
    counts = [np.bincount(item, minlength=4) for item in ratings]
    found = fleiss_kappa(counts)
    assert found.kappa == pytest.approx(by_hand(ratings, 4), nan_ok=True)
    assert np.isnan(found.kappa) or found.kappa <= 1 + 1e-12
    # A category against all others is two categories.
    for category, kappa in enumerate(found.by_category):
        two = [[int(rating == category) for rating in item] for item in ratings]
        assert kappa == pytest.approx(by_hand(two, 2), nan_ok=True)


def test_all_agree_or_never() -> None:
    assert fleiss_kappa([[3, 0], [0, 3]]).kappa == 1
    assert fleiss_kappa([[1, 1], [1, 1]]).kappa == -1
    assert np.isnan(fleiss_kappa([[3, 0], [3, 0]]).kappa)


@pytest.mark.parametrize("counts", [[], [[]], [[1, 0]], [[2, 1], [2, 0]], [[-1, 3]], [2, 3]])
def test_what_are_no_ratings_is_refused(counts: list) -> None:
    with pytest.raises(ShiftlakeError, match="no ratings"):
        fleiss_kappa(counts)
