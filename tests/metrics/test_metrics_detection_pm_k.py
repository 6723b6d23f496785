"""The worst frame of each set, what is averaged over them, and what a resample may do."""

import numpy as np
import pytest
from coco_reference import Reference
from hypothesis import given, settings
from hypothesis import strategies as st
from made_boxes import detector, findings, found_of, truth_of

from ops.errors import ShiftlakeError
from ops.metrics.detection import (
    COCO,
    ILSVRC_VID,
    RULES,
    Detections,
    SetFrames,
    average_precisions,
    draws_of_sets,
    frame_average_precision,
    match,
    mean_average_precision,
    merged_labels,
    paired_intervals,
    pm_k_map,
    ranking_of,
    resampled_mean_ap,
    suppressed,
    worst_frames,
)

BOX, AWAY = (0.0, 0.0, 10.0, 10.0), (50.0, 50.0, 60.0, 60.0)


def one_set(offsets: list[int]) -> SetFrames:
    return SetFrames(np.zeros(len(offsets), np.int64), np.array(offsets))


def test_the_worst_frame_the_nearest_of_equals_and_of_two_as_near_the_earlier():
    frames = one_set([-3, -2, -1, 0, 1, 2, 3])
    same = np.array([0.2, 0.2, 0.9, 0.9, 0.9, 0.2, 0.2])
    assert worst_frames(frames, same, 10).tolist() == [1]
    assert worst_frames(frames, np.array([0.1, 0.2, 0.9, 0.9, 0.9, 0.2, 0.2]), 10).tolist() == [0]
    assert worst_frames(frames, np.array([0.1, 0.9, 0.9, 0.9, 0.5, 0.9, 0.9]), 2).tolist() == [4]


def test_the_anchor_stays_where_nothing_is_worse():
    frames = one_set([-1, 0, 1])
    assert worst_frames(frames, np.array([0.7, 0.7, 0.7]), 10).tolist() == [1]
    # Equal as fractions, summed in another order.
    assert worst_frames(frames, np.array([0.3, 0.1 + 0.2, 0.3 - 1e-16]), 10).tolist() == [1]
    assert worst_frames(one_set([0]), np.array([0.4]), 10).tolist() == [0]


def test_a_frame_without_a_box_is_no_candidate_and_the_anchor_stands_for_a_set_without_any():
    frames = one_set([-1, 0, 1])
    assert worst_frames(frames, np.array([np.nan, 0.9, 1.0]), 10).tolist() == [1]
    assert worst_frames(frames, np.array([np.nan, np.nan, 1.0]), 10).tolist() == [2]
    assert worst_frames(frames, np.full(3, np.nan), 10).tolist() == [1]


def test_the_order_of_frames_decides_nothing():
    frames, truth, found = detector(12, 1)
    n = frames.set.size
    moved = np.random.default_rng(0).permutation(n)
    place = np.argsort(moved)
    other = SetFrames(frames.set[moved], frames.offset[moved])
    there = truth_of([])
    there = type(truth)(place[truth.frame], truth.label, truth.box)
    seen = Detections(place[found.frame], found.label, found.box, found.score)
    ks = (0, 1, 2, 3)
    first, second = pm_k_map(frames, truth, found, ks), pm_k_map(other, there, seen, ks)
    assert first.value.tolist() == second.value.tolist()
    assert (moved[second.chosen] == first.chosen).all()


@pytest.mark.parametrize("localisation", [False, True])
def test_pm_k_is_pycocotools_on_the_frames_it_calls_worst(localisation):
    frames, truth, found = detector(15, 7)
    if localisation:
        truth, found = merged_labels(truth, found)
    reference = Reference(truth, found, frames.set.size)
    alone = np.array([reference.mean_ap([f]) for f in range(frames.set.size)])
    chosen = []
    for each in range(frames.n_sets):
        own = np.flatnonzero(frames.set == each)
        with_box = [f for f in own if not np.isnan(alone[f])]
        anchor = [f for f in own if frames.offset[f] == 0]
        chosen += sorted(
            with_box or anchor,
            key=lambda f: (round(alone[f], 9), abs(frames.offset[f]), frames.offset[f]),
        )[:1]
    scores = pm_k_map(frames, truth, found, (0, 10))
    assert scores.chosen[1].tolist() == chosen
    expected = [reference.mean_ap(frames.anchors.tolist()), reference.mean_ap(chosen)]
    np.testing.assert_allclose(scores.value, expected, rtol=0, atol=1e-13)
    assert scores.value[1] < scores.value[0]


def test_localisation_chooses_frames_of_its_own():
    # The earlier frame has a wrong class in the right place, the later the right one elsewhere.
    frames = one_set([-1, 0, 1])
    truth = truth_of([(f, 0, BOX) for f in range(3)])
    found = found_of([(0, 1, BOX, 0.9), (1, 0, BOX, 0.9), (2, 0, AWAY, 0.9)])
    assert pm_k_map(frames, truth, found, (10,)).chosen.tolist() == [[0]]
    assert pm_k_map(frames, *merged_labels(truth, found), (10,)).chosen.tolist() == [[2]]


def test_the_frame_average_falls_with_k_and_a_perfect_detector_loses_nothing():
    frames, truth, found = detector(20, 3)
    scores = pm_k_map(frames, truth, found, range(4))
    lowest = np.nan_to_num(scores.frame_ap, nan=2.0)[scores.chosen]
    assert (np.diff(lowest, axis=0) <= 1e-12).all()
    perfect = Detections(truth.frame, truth.label, truth.box, np.ones(truth.frame.size))
    assert pm_k_map(frames, truth, perfect, (0, 3)).value.tolist() == [1.0, 1.0]


def test_a_drop_may_be_negative():
    # The worst frame of the first set lacks the class that was missed in its anchor.
    frames = SetFrames(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]))
    third = (100.0, 0.0, 110.0, 10.0)
    truth = truth_of([(0, 0, AWAY), *((f, 1, BOX) for f in range(4)), (1, 1, AWAY), (1, 1, third)])
    found = found_of([(f, 1, BOX, 0.9) for f in range(4)])
    scores = pm_k_map(frames, truth, found, (0, 10))
    assert scores.chosen.tolist() == [[0, 2, 3], [1, 2, 3]]
    assert scores.frame_ap[:2] == pytest.approx([0.5, 34 / 101])
    assert scores.value == pytest.approx([0.5, 61 / 101])


def test_interpolations_of_a_small_curve():
    # Precision 1, 1/2, 2/3 and 1/2 at recalls 1/4, 1/4, 1/2 and 1/2, then 3/5 at 3/4.
    hit = np.array([True, False, True, False, True])
    group, n_truth = np.zeros(5, np.int64), np.array([4])
    value = {
        name: float(average_precisions(group, hit, n_truth, rule.interpolation)[0])
        for name, rule in RULES.items()
    }
    assert value["all-point"] == pytest.approx((1 + 2 / 3 + 3 / 5) / 4)
    assert value["101-point"] == pytest.approx((26 * 1 + 25 * 2 / 3 + 25 * 3 / 5) / 101)
    assert value["11-point"] == pytest.approx((3 * 1 + 3 * 2 / 3 + 2 * 3 / 5) / 11)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 5))
def test_interpolations_as_their_authors_wrote_them(hits, missed):
    hit = np.array(hits)
    total = int(hit.sum()) + missed
    recall = np.cumsum(hit) / max(total, 1)
    precision = np.cumsum(hit) / np.arange(1, hit.size + 1)
    groups, counts = np.zeros(hit.size, np.int64), np.array([total])
    if not total:
        assert np.isnan(average_precisions(groups, hit, counts))
        return
    curve = np.maximum.accumulate(np.r_[precision, 0.0][::-1])[::-1]
    area = float((np.diff(np.r_[0.0, recall]) * curve[:-1]).sum())
    points = [max(precision[recall >= r], default=0.0) for r in np.linspace(0, 1, 11)]
    own = [float(average_precisions(groups, hit, counts, i)[0]) for i in ("all-point", "11-point")]
    assert own == pytest.approx([area, np.mean(points)])


def test_a_small_object_of_ilsvrc_is_met_by_less():
    # 10 x 10 pixels whose last is named: at least 100 / 400; of 8 common columns 80 / 120 overlap.
    truth = truth_of([(0, 0, (0.0, 0.0, 9.0, 9.0))])
    shifted = found_of([(0, 0, (5.0, 0.0, 14.0, 9.0), 0.9)])
    assert match(truth, shifted, ILSVRC_VID).hit.tolist() == [True]
    assert match(truth, shifted, COCO).hit.tolist() == [False]
    far = found_of([(0, 0, (7.0, 0.0, 16.0, 9.0), 0.9)])
    assert match(truth, far, ILSVRC_VID).hit.tolist() == [False]
    large = truth_of([(0, 0, (0.0, 0.0, 399.0, 399.0))])
    half = found_of([(0, 0, (200.0, 0.0, 599.0, 399.0), 0.9)])
    assert match(large, half, ILSVRC_VID).hit.tolist() == [False]


def test_every_set_once_is_the_score_itself():
    frames, truth, found = detector(30, 4)
    for rule in RULES.values():
        scores = pm_k_map(frames, truth, found, (0, 3), rule)
        once = np.ones((1, frames.n_sets), np.int64)
        own = [resampled_mean_ap(r, once, rule.interpolation)[0] for r in scores.rankings]
        np.testing.assert_allclose(own, scores.value, rtol=0, atol=1e-6)


def test_a_set_drawn_twice_counts_as_two_frames():
    frames, truth, found = detector(6, 11)
    n = frames.set.size
    times = np.array([2, 0, 1, 3, 0, 1])
    copies = np.repeat(np.arange(6), times)
    drawn_truth, drawn_found = [], []
    for at, anchor in enumerate(frames.anchors[copies]):
        own, seen = truth.frame == anchor, found.frame == anchor
        drawn_truth += [
            (at, int(c), tuple(b)) for c, b in zip(truth.label[own], truth.box[own], strict=True)
        ]
        drawn_found += [
            # Scores that differ, so that the order of copies among equals plays no part.
            (at, int(c), tuple(b), float(s) + 1e-9 * i)
            for i, (c, b, s) in enumerate(
                zip(found.label[seen], found.box[seen], found.score[seen], strict=True)
            )
        ]
    matched = match(truth_of(drawn_truth), found_of(drawn_found))
    frames_drawn = np.arange(copies.size)
    expected = mean_average_precision(ranking_of(matched, frames_drawn, copies.size))
    ranking = ranking_of(match(truth, found), frames.anchors, n)
    assert resampled_mean_ap(ranking, times[None])[0] == pytest.approx(expected, abs=1e-6)


def test_intervals_are_paired_keyed_and_clustered_by_video():
    frames, truth, found = detector(40, 6)
    scores = pm_k_map(frames, truth, found, (0, 3))
    times = draws_of_sets(np.arange(40), 300)
    assert (times.sum(axis=1) == 40).all()
    first, again = paired_intervals(scores, times), paired_intervals(scores, times)
    assert first.value == again.value
    low, high = first.value[0]
    assert low < scores.value[0] < high
    drop_low, drop_high = first.drop[1]
    assert drop_low < scores.value[0] - scores.value[1] < drop_high
    # A drop from itself does not vary.
    assert np.isnan(first.drop[0]).all()
    pairs = draws_of_sets(np.repeat(np.arange(20), 2), 300)
    assert (pairs[:, ::2] == pairs[:, 1::2]).all()


def test_only_the_surest_of_overlapping_boxes_is_kept_whatever_its_class():
    near = (0.0, 0.0, 10.0, 9.0)
    found = found_of(
        [
            (0, 0, BOX, 0.5),
            (0, 1, near, 0.9),
            (0, 0, AWAY, 0.1),
            (1, 0, BOX, 0.3),
            (0, 2, near, 0.9),
        ]
    )
    kept = suppressed(found)
    assert [kept.frame.tolist(), kept.label.tolist()] == [[0, 0, 1], [1, 0, 0]]
    # Half of a box is not more than half of it.
    halves = found_of([(0, 0, (0.0, 0.0, 10.0, 10.0), 0.9), (0, 0, (0.0, 0.0, 10.0, 5.0), 0.5)])
    assert suppressed(halves).score.tolist() == [0.9, 0.5]


@settings(max_examples=60, deadline=None)
@given(findings)
def test_suppression_is_the_plain_loop(found):
    from ops.metrics.detection import overlap

    kept: list[int] = []
    for at in sorted(range(found.frame.size), key=lambda i: (-found.score[i], i)):
        over = [
            overlap(found.box[[by]], found.box[[at]])[0] > 0.5
            for by in kept
            if found.frame[by] == found.frame[at]
        ]
        if not any(over):
            kept.append(at)
    own = suppressed(found)
    expected = found.only(np.isin(np.arange(found.frame.size), kept))
    assert own.box.tolist() == expected.box.tolist()
    assert own.score.tolist() == expected.score.tolist()


def test_boxes_and_sets_that_cannot_be_scored_are_refused():
    with pytest.raises(ShiftlakeError, match="cannot be scored"):
        truth_of([(0, 0, (5.0, 0.0, 1.0, 1.0))])
    with pytest.raises(ShiftlakeError, match="cannot be scored"):
        truth_of([(0, 0, (0.0, 0.0, float("nan"), 1.0))])
    with pytest.raises(ShiftlakeError, match="nan as score 1"):
        found_of([(0, 0, BOX, 0.5), (0, 0, BOX, float("nan"))])
    with pytest.raises(ShiftlakeError, match="one anchor"):
        SetFrames(np.zeros(2, np.int64), np.array([0, 0]))
    assert np.isnan(frame_average_precision(match(truth_of([]), found_of([])), 1)).all()
