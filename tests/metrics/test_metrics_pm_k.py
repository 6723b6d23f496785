"""pm-k beside a reading of its definition in plain Python, and what can never happen to it."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.metrics import pm_k_correct
from ops.metrics.pm_k import pm_k_counts, pm_k_of
from ops.metrics.pm_k_index import FrameSetIndex
from ops.metrics.pm_k_neighbours import mean_neighbour, random_neighbours
from ops.metrics.pm_k_offsets import offset_errors
from ops.metrics.pm_k_subsets import FRAME_RATES, every_nth, of_rate, within_seconds

SETS = st.lists(
    st.tuples(
        st.booleans(),
        st.dictionaries(st.integers(-12, 12).filter(bool), st.booleans(), max_size=7),
    ),
    min_size=1,
    max_size=8,
).map(lambda sets: [{0: anchor, **beside} for anchor, beside in sets])


def _frames(sets):
    rows = [(f"a{i:02}", o, c) for i, frames in enumerate(sets) for o, c in frames.items()]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def _naive(frames, k, anchor=True):
    beside = [c for o, c in frames.items() if 0 < abs(o) <= k]
    if anchor:
        return frames[0] and all(beside)
    return all(beside) if beside else frames[0]


@given(SETS, st.randoms())
def test_every_reading_equals_the_naive_one_in_any_order(sets, random):
    names, offsets, correct = _frames(sets)
    order = list(range(len(names)))
    random.shuffle(order)
    names, offsets, correct = names[order], offsets[order], correct[order]
    index = FrameSetIndex.of(names, offsets)
    for anchor in (True, False):
        counts = pm_k_counts(index, correct, 12, anchor=anchor)
        for k in range(13):
            expected = [_naive(frames, k, anchor) for frames in sets]
            assert pm_k_correct(names, offsets, correct, k, anchor=anchor)[1].tolist() == expected
            assert counts[k] == sum(expected)
    found = offset_errors(index, correct, 10)
    for i, d in enumerate(range(-10, 11)):
        there = [frames for frames in sets if d in frames]
        assert found.present[i] == len(there)
        assert found.wrong[i] == sum(not frames[d] for frames in there)
        right = [frames for frames in there if frames[0]]
        assert found.present_given_right[i] == len(right)
        assert found.wrong_given_right[i] == sum(not frames[d] for frames in right)
    for frames, mean in zip(sets, mean_neighbour(index, correct), strict=True):
        beside = [c for o, c in frames.items() if 0 < abs(o) <= 10] or [frames[0]]
        assert mean == sum(beside) / len(beside)


@given(SETS)
def test_pm_k_never_rises_with_k_and_pm_0_is_the_accuracy_of_the_anchors(sets):
    names, offsets, correct = _frames(sets)
    index = FrameSetIndex.of(names, offsets)
    counts = pm_k_counts(index, correct, 12)
    assert counts[0] == sum(frames[0] for frames in sets)
    assert (np.diff(counts) <= 0).all()
    # So the drop is a count: whoever is right within k is right at 0.
    assert not (pm_k_of(index, correct, 10) & ~pm_k_of(index, correct, 0)).any()


@given(SETS, st.integers(0, 7), st.integers(-12, 12).filter(bool), st.booleans())
def test_a_further_neighbour_never_raises_pm_k(sets, which, offset, right):
    more = [dict(frames) for frames in sets]
    more[which % len(more)].setdefault(offset, right)
    before, after = (
        pm_k_counts(FrameSetIndex.of(names, offsets), correct, 12)
        for names, offsets, correct in map(_frames, (sets, more))
    )
    assert (after <= before).all()


@given(SETS, st.data())
def test_a_subset_is_as_if_nothing_else_had_been_mined(sets, data):
    names, offsets, correct = _frames(sets)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names))))
    some = FrameSetIndex.of(names, offsets).keep(kept)
    heads = {name for name, o, k in zip(names, offsets, kept, strict=True) if k and o == 0}
    rest = kept & np.isin(names, sorted(heads))
    if not heads:
        assert some.n == 0
        assert pm_k_counts(some, correct, 10).tolist() == [0] * 11
        return
    anew = FrameSetIndex.of(names[rest], offsets[rest])
    assert some.anchors.tolist() == anew.anchors.tolist()
    for anchor in (True, False):
        expected = pm_k_counts(anew, correct[rest], 12, anchor=anchor)
        assert (pm_k_counts(some, correct, 12, anchor=anchor) == expected).all()


@pytest.mark.parametrize(
    ("names", "offsets", "said"),
    [
        (["a", "b"], [0, 1], "0 frames at offset 0"),
        (["a", "b", "b"], [0, 0, 0], "2 frames at offset 0"),
        (["a", "b", "b", "b"], [0, 0, 4, 4], "2 frames at offset 4"),
    ],
)
def test_a_set_that_is_none_is_refused_by_name(names, offsets, said):
    with pytest.raises(ShiftlakeError, match="frame set b") as refused:
        FrameSetIndex.of(np.array(names), np.array(offsets))
    assert said in str(refused.value)


def test_the_random_neighbour_is_the_one_of_the_smallest_hash():
    rng = np.random.default_rng(0)
    offsets = np.tile(np.arange(-10, 11), 300)
    names = np.repeat([f"v{i}/000010" for i in range(300)], 21)
    keys = np.array([f"{name}/{o:+d}" for name, o in zip(names, offsets, strict=True)], object)
    order = rng.permutation(len(keys))
    names, offsets, keys = names[order], offsets[order], keys[order]
    index = FrameSetIndex.of(names, offsets)
    drawn = random_neighbours(index, keys)
    assert (names[drawn] == index.anchors).all()
    assert (offsets[drawn] != 0).all()
    for name, place in zip(index.anchors[:20], drawn[:20], strict=True):
        own = [k for k, n, o in zip(keys, names, offsets, strict=True) if n == name and o]
        assert keys[place] == min(own, key=lambda key: hashlib.sha256(key.encode()).digest())
    # Evenly: no offset is drawn three times as often as it should be.
    assert np.bincount(offsets[drawn] + 10).max() < 45
    alone = FrameSetIndex.of(np.array(["a"]), np.array([0]))
    assert random_neighbours(alone, np.array(["a/0"], object)).tolist() == [0]


def test_time_and_frame_rate_are_those_of_the_video():
    # Ten frames at 30 and at 29.97 a second lie within a third of a second; at 25 eight do.
    for fps, expected in ((30, 10), (30_000 / 1_001, 10), (25, 8), (15, 5), (60, 10)):
        dt = np.arange(-10, 11) / fps
        assert within_seconds(np.round(dt, 3)).sum() == 2 * expected + 1
    rates = np.array([15, 20.4, 23.976, 25, 29.97, 30, 48, 59.94, 120, 22, np.nan])
    assert [int(of_rate(rates, each).sum()) for each in FRAME_RATES] == [2, 2, 2, 2]
    names, offsets = np.repeat("a", 21), np.arange(-10, 11)
    index = FrameSetIndex.of(names, offsets)
    assert sorted(every_nth(index, 2).offset) == list(range(-10, 11, 2))
    assert sorted(every_nth(index, 5).offset) == [-10, -5, 0, 5, 10]
