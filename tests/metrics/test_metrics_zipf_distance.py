"""The Zipf distance of two rankings, by hand, by its definition, and by its bounds."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.metrics.zipf_distance import reciprocal_ranks, zipf_distance

# Few distinct values, so that ties are the rule.
VALUE = st.sampled_from([-np.inf, -2.0, -0.0, 0.0, 1.0, 3.5])


def by_definition(earlier: list[float], later: list[float]) -> float:
    order = sorted(range(len(earlier)), key=lambda c: (-earlier[c], c))
    after = sorted(range(len(later)), key=lambda c: (-later[c], c))
    rank = {c: i for i, c in enumerate(after, 1)}
    return sum(abs(1 / i - 1 / rank[c]) / i for i, c in enumerate(order, 1))


def test_by_hand() -> None:
    # The first two classes change places: |1 - 1/2| / 1 + |1/2 - 1| / 2 = 0.75.
    frames = np.array([[[3, 2, 1], [2, 3, 1], [2, 3, 1]]], np.float32)
    assert zipf_distance(frames, "previous").tolist() == [[0.75, 0.0]]
    assert zipf_distance(frames, "first").tolist() == [[0.75, 0.75]]
    # The last two: |1/2 - 1/3| / 2 + |1/3 - 1/2| / 3.
    frames = np.array([[[3, 2, 1], [3, 1, 2]]], np.float32)
    assert zipf_distance(frames, "first") == pytest.approx(1 / 12 + 1 / 18)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 9).flatmap(
        lambda n: st.lists(st.lists(VALUE, min_size=n, max_size=n), min_size=2, max_size=4)
    ),
    st.sampled_from(["first", "previous"]),
)
def test_is_its_definition_with_ties_by_index(frames: list[list[float]], reference: str) -> None:
    found = zipf_distance(np.array([frames], np.float32), reference)[0]
    for i, later in enumerate(frames[1:]):
        earlier = frames[0] if reference == "first" else frames[i]
        assert found[i] == pytest.approx(by_definition(earlier, later), abs=1e-12)


def test_ranks_of_a_thousand_classes_are_those_of_a_stable_sort() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (40, 1000)).astype(np.float32)
    logits[::2] = np.round(logits[::2])
    logits[1, 3:40] = -np.inf
    order = np.argsort(-logits, axis=1, kind="stable")
    expected = np.empty(logits.shape)
    np.put_along_axis(expected, order, 1 / np.arange(1, 1001)[None], axis=1)
    assert np.array_equal(reciprocal_ranks(logits), expected)


def test_zero_is_the_same_ranking_and_the_reverse_is_the_furthest_at_three_classes() -> None:
    first = [3.0, 2.0, 1.0]
    found = {}
    for order in permutations(first):
        frames = np.array([[first, order]], np.float32)
        found[order] = zipf_distance(frames, "previous")[0, 0]
    assert found[3.0, 2.0, 1.0] == 0
    assert min(value for order, value in found.items() if order != (3.0, 2.0, 1.0)) > 0
    # What the likeliest class loses weighs most: a rotation that drops it to the third place.
    assert max(found, key=found.__getitem__)[0] == 1.0


def test_one_frame_has_no_distance() -> None:
    with pytest.raises(ShiftlakeError, match="cannot be compared"):
        zipf_distance(np.zeros((2, 1, 5), np.float32), "first")
