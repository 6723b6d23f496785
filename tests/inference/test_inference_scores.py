"""What is kept of a row of logits, against definitions written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.inference.scores import ranks, summarise, top

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
    assert ranks(logits(row), [[label]]) == [order.index(label) + 1]
    finite = [index for index in order if row[index] > NONE][:5]
    indices, values = top(logits(row))
    assert indices == [finite]
    assert values == [[row[index] for index in finite]]


def test_ties_go_to_the_lowest_index() -> None:
    row = logits([1.0, 4.0, 4.0, 4.0, 2.0])
    assert summarise(row).pred.tolist() == [1]
    assert top(row)[0] == [[1, 2, 3, 4, 0]]
    assert ranks(row, [[3]]) == [3]


def test_rank_is_the_best_of_the_accepted_labels_and_none_without() -> None:
    row = [0.0, 3.0, 2.0, 1.0]
    assert ranks(logits(row, row, row), [[0, 3], [], [9]]) == [3, None, 10]


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
