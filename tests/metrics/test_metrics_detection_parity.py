"""Matching, frame average precision and mean average precision are pycocotools' own."""

import numpy as np
import pytest
from coco_reference import Reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_boxes import N_FRAMES, detector, findings, found_of, truth_of, truths

from ops.metrics.detection import (
    COCO,
    Detections,
    Truth,
    frame_average_precision,
    match,
    mean_average_precision,
    merged_labels,
    overlap,
    ranking_of,
)

CLOSE = {"rtol": 0, "atol": 1e-13, "equal_nan": True}


def hits(matched):
    found = {}
    for frame, label, score, hit in zip(
        matched.frame, matched.label, matched.score, matched.hit, strict=True
    ):
        found.setdefault((int(frame), int(label)), []).append((float(score), bool(hit)))
    return found


def mean_ap(truth: Truth, found: Detections, frames: list[int], n_frames: int) -> float:
    ranking = ranking_of(match(truth, found), np.array(frames, np.int64), n_frames)
    return mean_average_precision(ranking)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(truths, findings, st.lists(st.integers(0, N_FRAMES - 1), unique=True, min_size=1))
def test_every_choice_is_that_of_pycocotools_ties_included(truth, found, some):
    reference = Reference(truth, found, N_FRAMES)
    everything = list(range(N_FRAMES))
    expected = {place: rows for place, rows in reference.hits(everything).items() if rows}
    matched = match(truth, found)
    assert hits(matched) == expected
    own = frame_average_precision(matched, N_FRAMES)
    np.testing.assert_allclose(own, [reference.mean_ap([f]) for f in everything], **CLOSE)
    some = sorted(some)
    np.testing.assert_allclose(
        mean_ap(truth, found, some, N_FRAMES), reference.mean_ap(some), **CLOSE
    )


@settings(max_examples=40, deadline=None)
@given(truths, findings)
def test_localisation_is_pycocotools_on_relabelled_boxes(truth, found):
    truth, found = merged_labels(truth, found)
    reference = Reference(truth, found, N_FRAMES)
    own = frame_average_precision(match(truth, found), N_FRAMES)
    np.testing.assert_allclose(own, [reference.mean_ap([f]) for f in range(N_FRAMES)], **CLOSE)


@pytest.mark.parametrize("seed", range(2))
def test_a_detector_on_many_frames_scores_as_in_pycocotools(seed):
    frames, truth, found = detector(25, seed)
    n = frames.set.size
    reference = Reference(truth, found, n)
    assert hits(match(truth, found)) == {k: v for k, v in reference.hits(range(n)).items() if v}
    np.testing.assert_allclose(
        mean_ap(truth, found, list(range(n)), n), reference.mean_ap(list(range(n))), **CLOSE
    )
    anchors = frames.anchors.tolist()
    np.testing.assert_allclose(
        mean_ap(truth, found, anchors, n), reference.mean_ap(anchors), **CLOSE
    )


def test_of_a_crowded_frame_the_hundred_surest_of_each_class_count():
    rng = np.random.default_rng(3)
    corner = rng.integers(0, 200, (300, 2)).astype(float)
    boxes = np.concatenate([corner, corner + 20], axis=1)
    truth = truth_of([(0, i % 2, tuple(b)) for i, b in enumerate(boxes[:150])])
    scores = rng.integers(1, 9, 600) / 10
    found = found_of([(0, i % 2, tuple(boxes[i % 300]), s) for i, s in enumerate(scores)])
    matched = match(truth, found)
    assert np.bincount(matched.label).tolist() == [100, 100]
    reference = Reference(truth, found, 1)
    assert hits(matched) == reference.hits([0])
    np.testing.assert_allclose(
        frame_average_precision(matched, 1), [reference.mean_ap([0])], **CLOSE
    )


def test_nothing_to_find_and_nothing_found():
    none, nobody = truth_of([]), found_of([])
    box = (0.0, 0.0, 10.0, 10.0)
    assert np.isnan(frame_average_precision(match(none, nobody), 2)).all()
    assert np.isnan(mean_ap(none, found_of([(0, 0, box, 0.5)]), [0], 1))
    missed = frame_average_precision(match(truth_of([(1, 0, box)]), nobody), 2)
    np.testing.assert_array_equal(missed, [np.nan, 0.0])
    # A class that is not there is left out, whatever was found of it.
    found = found_of([(0, 0, box, 0.9), (0, 1, box, 1.0)])
    assert frame_average_precision(match(truth_of([(0, 0, box)]), found), 1)[0] == 1.0


def test_a_box_found_twice_is_one_hit():
    box = (10.0, 10.0, 50.0, 60.0)
    truth = truth_of([(0, 0, box)])
    matched = match(truth, found_of([(0, 0, box, 0.4), (0, 0, box, 0.9), (0, 0, box, 0.9)]))
    assert matched.hit.tolist() == [True, False, False]
    assert frame_average_precision(matched, 1)[0] == 1.0


def test_half_of_a_box_finds_it_and_less_does_not():
    truth = truth_of([(0, 0, (0.0, 0.0, 10.0, 10.0)), (1, 0, (0.0, 0.0, 10.0, 10.0))])
    found = found_of([(0, 0, (0.0, 0.0, 10.0, 5.0), 0.5), (1, 0, (0.0, 0.0, 10.0, 4.99), 0.5)])
    matched = match(truth, found)
    assert matched.hit.tolist() == [True, False]
    assert hits(matched) == Reference(truth, found, 2).hits([0, 1])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_overlap_has_the_bits_of_pycocotools(seed):
    from pycocotools import mask

    rng = np.random.default_rng(seed)
    corner = rng.uniform(-5, 100, (2, 6, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(0, 60, (2, 6, 2))], axis=2)
    as_size = [np.c_[b[:, :2], b[:, 2:] - b[:, :2]] for b in boxes]
    expected = mask.iou(as_size[0], as_size[1], [0] * 6)
    own = overlap(np.repeat(boxes[0], 6, axis=0), np.tile(boxes[1], (6, 1))).reshape(6, 6)
    np.testing.assert_array_equal(own, expected)


def test_how_work_is_cut_into_parts_changes_nothing(monkeypatch):
    _, truth, found = detector(8, 5)
    whole = match(truth, found, COCO)
    monkeypatch.setattr("ops.metrics.detection.matching._PAIRS", 3)
    assert match(truth, found, COCO).hit.tolist() == whole.hit.tolist()
