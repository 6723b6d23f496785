"""The rows of a batch, from logits alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_rows import batch, maker

from ops.errors import ShiftlakeError
from ops.inference import PREDICTIONS

LABELS = st.lists(st.lists(st.integers(0, 9), max_size=3, unique=True), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(LABELS, st.data())
def test_a_row_is_what_a_stable_sort_says(labels: list[list[int]], data: st.DataObject) -> None:
    # Few distinct values, so that ties are the rule.
    drawn = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=8, max_size=8)
    logits = np.array([data.draw(drawn) for _ in labels], np.float32)
    unread = data.draw(st.sets(st.integers(0, len(labels) - 1)))
    found = maker(n_classes=8).rows(batch(labels, tuple(unread)), logits)
    assert found.schema.equals(PREDICTIONS)
    for i, (row, own) in enumerate(zip(found.to_pylist(), labels, strict=True)):
        assert row["labels"] == own
        order = np.argsort(-logits[i], kind="stable").tolist()
        if i in unread:
            assert (row["status"], row["error"]) == ("decode_error", "no image")
            for name in ("pred", "top5_idx", "top5_logit", "p_max", "entropy", "rank_of_label"):
                assert row[name] is None
            wrong = False if own else None
            assert (row["correct"], row["correct5"]) == (wrong, wrong)
            continue
        assert (row["pred"], row["top5_idx"]) == (order[0], order[:5])
        assert row["top5_logit"] == logits[i][order[:5]].tolist()
        ranks = [order.index(label) + 1 if label < 8 else label + 1 for label in own]
        assert row["rank_of_label"] == min(ranks, default=None)
        assert row["correct"] == (order[0] in own if own else None)
        assert row["correct5"] == (not set(own).isdisjoint(order[:5]) if own else None)


def test_fewer_classes_than_five_give_shorter_lists() -> None:
    logits = np.array([[1, 3, 2]] * 4, np.float32)
    rows = maker(n_classes=3, frames=2).rows(batch([[1], [0]]), logits).to_pylist()
    assert [row["top5_idx"] for row in rows] == [[1, 2, 0]] * 4
    assert [row["zipf_distance"] for row in rows] == [None, 0, None, 0]


def test_a_frame_that_cannot_be_read_has_no_distance_and_its_sequence_keeps_the_others() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (6, 1000)).astype(np.float32)
    found = maker(frames=3).rows(batch([[1], [2]], unread=(1,)), logits)
    assert found["zipf_distance"].is_null().to_pylist() == [True, False, False, True, True, True]


def test_threads_may_share_a_maker() -> None:
    rng = np.random.default_rng(0)
    own = maker(("imagenet_a", "imagenet_r"), own="imagenet_a")
    given_batches = [
        (batch([[int(label)] for label in rng.integers(0, 1000, 32)]), logits)
        for logits in rng.normal(0, 3, (8, 32, 1000)).astype(np.float32)
    ]
    alone = [own.rows(*each) for each in given_batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda each: own.rows(*each), given_batches))
    assert all(one.equals(other) for one, other in zip(alone, together, strict=True))
    assert len({str(one["top5_logit"]) for one in alone}) == 8


def test_a_batch_says_of_a_row_what_a_smaller_one_says() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (50, 1000)).astype(np.float32)
    given_batch, own = batch([[int(v)] for v in rng.integers(0, 1000, 50)]), maker()
    whole = own.rows(given_batch, logits)
    parts = []
    for start in range(0, 50, 7):
        some = batch([])
        some.samples = given_batch.samples[start : start + 7]
        some.errors = given_batch.errors[start : start + 7]
        parts.append(own.rows(some, logits[start : start + 7]))
    assert pa.Table.from_batches(parts).combine_chunks().to_batches()[0].equals(whole)


def test_a_label_that_no_column_can_hold_is_refused_and_not_folded() -> None:
    with pytest.raises(pa.ArrowInvalid, match="not in range"):
        maker(n_classes=8).rows(batch([[40_000]]), np.zeros((1, 8), np.float32))


def test_another_number_of_outputs_names_shard_and_sample() -> None:
    given_batch = batch([[1], [2]])
    with pytest.raises(ShiftlakeError, match="another number of outputs") as caught:
        maker().rows(given_batch, np.zeros((2, 999), np.float32))
    assert given_batch.shard.name in str(caught.value.where)
    assert given_batch.samples[0].key in str(caught.value.where)
