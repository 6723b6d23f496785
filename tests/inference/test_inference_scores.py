"""What is kept of a row of logits, against definitions written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.inference.scores import Labels, accepted, ranks, summarise, top

NONE = -np.inf
# Few distinct values, so that ties are the rule and not the exception.
ROW = st.lists(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, NONE]), min_size=1, max_size=12).filter(
    lambda row: any(value > NONE for value in row)
)


def logits(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


@settings(max_examples=200, deadline=None)
@given(ROW)
def test_softmax_summary_is_the_textbook_one(row: list[float]) -> None:
    found = summarise(logits(row))
    weights = [math.exp(value) for value in row]
    chances = [weight / sum(weights) for weight in weights]
    assert found.pred[0] == row.index(max(row))
    assert found.max_logit[0] == max(row)
    assert found.p_max[0] == pytest.approx(max(chances))
    assert found.logsumexp[0] == pytest.approx(math.log(sum(weights)))
    entropy = -sum(chance * math.log(chance) for chance in chances if chance)
    assert found.entropy[0] == pytest.approx(entropy, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(ROW, st.integers(0, 11))
def test_rank_and_top_agree_with_a_stable_sort(row: list[float], label: int) -> None:
    label %= len(row)
    order = sorted(range(len(row)), key=lambda index: (-row[index], index))
    assert ranks(logits(row), Labels.of([[label]])) == [order.index(label) + 1]
    best = order[:5]
    indices, values = top(logits(row))
    assert indices.tolist() == [[index if row[index] > NONE else -1 for index in best]]
    assert values.tolist() == [[row[index] for index in best]]


def test_ties_go_to_the_lowest_index() -> None:
    row = logits([1.0, 4.0, 4.0, 4.0, 2.0])
    assert summarise(row).pred.tolist() == [1]
    assert top(row)[0].tolist() == [[1, 2, 3, 4, 0]]
    assert ranks(row, Labels.of([[3]])).tolist() == [3]


def test_rank_is_the_best_of_the_accepted_labels_and_zero_without() -> None:
    row = [0.0, 3.0, 2.0, 1.0]
    assert ranks(logits(row, row, row), Labels.of([[0, 3], [], [9]])).tolist() == [3, 0, 10]
    assert ranks(logits(row), Labels.of([[]])).tolist() == [0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=1, max_size=6), st.integers(1, 3))
def test_labels_of_frames_are_those_of_their_sequence(labels: list[list[int]], frames: int) -> None:
    rng = np.random.default_rng(len(labels))
    values = rng.integers(0, 4, (len(labels) * frames, 6)).astype(np.float32)
    each = [own for own in labels for _ in range(frames)]
    of_frames = Labels.of(labels, frames)
    assert np.array_equal(of_frames.offsets, Labels.of(each).offsets)
    assert np.array_equal(of_frames.values, Labels.of(each).values)
    order = [sorted(range(6), key=lambda c, row=row: (-row[c], c)) for row in values]
    expected = [
        min((row.index(label) + 1 if label < 6 else label + 1 for label in own), default=0)
        for row, own in zip(order, each, strict=True)
    ]
    assert ranks(values, of_frames).tolist() == expected
    chosen = np.array([row[:2] for row in order])
    assert accepted(of_frames, chosen).tolist() == [
        not set(own).isdisjoint(row) for own, row in zip(each, chosen.tolist(), strict=True)
    ]


def test_a_mask_restricts_the_softmax_and_can_only_raise_the_confidence() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 3, (50, 20)).astype(np.float32)
    mask = (2, 3, 7, 11, 19)
    masked, whole = summarise(values, mask), summarise(values)
    assert set(masked.pred.tolist()) <= set(mask)
    alone = summarise(values[:, mask])
    assert [mask[index] for index in alone.pred] == masked.pred.tolist()
    assert np.allclose(alone.p_max, masked.p_max)
    assert (masked.logsumexp <= whole.logsumexp).all()
    inside = np.isin(whole.pred, mask)
    assert inside.any()
    assert (masked.pred[inside] == whole.pred[inside]).all()
    assert (masked.p_max[inside] >= whole.p_max[inside]).all()


def test_large_logits_stay_finite() -> None:
    found = summarise(logits([30_000.0, 29_999.0, NONE]))
    assert found.p_max[0] == pytest.approx(1 / (1 + math.exp(-1)))
    assert np.isfinite([found.logsumexp[0], found.entropy[0]]).all()


@settings(max_examples=200, deadline=None)
@given(ROW)
def test_sigmoid_summary_is_of_independent_classes(row: list[float]) -> None:
    found, softmax = summarise(logits(row), head="sigmoid"), summarise(logits(row))
    chances = [1 / (1 + math.exp(-value)) for value in row]
    assert found.p_max[0] == pytest.approx(max(chances))
    entropy = -sum(p * math.log(p) for c in chances for p in (c, 1 - c) if 0 < p < 1)
    assert found.entropy[0] == pytest.approx(entropy, abs=1e-12)
    for name in ("pred", "max_logit", "logsumexp"):
        assert getattr(found, name) == getattr(softmax, name)


def test_a_sigmoid_of_large_logits_stays_finite() -> None:
    found = summarise(logits([800.0, -800.0, 0.0], [-30_000.0, -30_001.0, NONE]), head="sigmoid")
    assert found.p_max.tolist() == [1.0, 0.0]
    assert found.entropy == pytest.approx([math.log(2), 0.0])


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 3, (67, 300)).astype(np.float32)
    whole = summarise(values)
    for start, stop in ((0, 1), (5, 38), (16, 67)):
        part = summarise(values[start:stop])
        for name in ("pred", "p_max", "max_logit", "logsumexp", "entropy"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[start:stop])
