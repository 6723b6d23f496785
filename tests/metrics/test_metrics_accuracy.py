"""Accuracies: ReaL's denominator, masks that never hurt, pm-k."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ops.errors import ShiftlakeError
from ops.metrics import (
    clean_companion,
    masked_prediction,
    mean_per_class_accuracy,
    pm_k_correct,
    real_correct,
)

REAL = Path(__file__).parents[3] / "shared" / "samples" / "real.json"


@pytest.mark.skipif(not REAL.exists(), reason="the ReaL sample file is not beside this checkout")
def test_real_counts_46837_images_on_the_published_file():
    sets = json.loads(REAL.read_text())
    _, counted = real_correct(np.zeros(len(sets), int), sets)
    assert len(sets) == 50_000
    assert counted.sum() == 46_837
    # Predicting the first accepted label wherever there is one is right everywhere it counts.
    first = np.array([own[0] if own else -1 for own in sets])
    correct, counted = real_correct(first, sets)
    assert correct[counted].all()
    assert not correct[~counted].any()


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float32, (20, 10), elements=st.floats(-5, 5, width=32)), st.data())
def test_masked_accuracy_is_never_below_unmasked(logits, data):
    classes = sorted(data.draw(st.sets(st.integers(0, 9), min_size=1)))
    labels = np.array(data.draw(st.lists(st.sampled_from(classes), min_size=20, max_size=20)))
    unmasked = (logits.argmax(1) == labels).mean()
    assert (masked_prediction(logits, classes) == labels).mean() >= unmasked


def test_the_clean_companion_keeps_only_the_masks_classes():
    assert clean_companion(np.array([0, 7, 3, 7]), [3, 7]).tolist() == [False, True, True, True]


def test_mean_per_class_weighs_classes_alike():
    assert mean_per_class_accuracy([90, 0], [100, 1]) == pytest.approx(0.45)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.integers(-10, 10).filter(bool), st.booleans(), max_size=6),
        min_size=1,
        max_size=8,
    ),
    st.data(),
)
def test_pm_k_is_the_worst_frame_within_k(neighbours, data):
    sets = [{0: data.draw(st.booleans()), **frames} for frames in neighbours]
    rows = [(f"a{i:02}", o, c) for i, frames in enumerate(sets) for o, c in frames.items()]
    names, offsets, correct = (np.array(column) for column in zip(*rows, strict=True))
    previous = None
    for k in range(11):
        anchors, found = pm_k_correct(names, offsets, correct, k)
        expected = [all(c for o, c in frames.items() if abs(o) <= k) for frames in sets]
        assert found.tolist() == expected
        assert len(anchors) == len(sets)  # anchors without neighbours stay
        assert previous is None or (found <= previous).all()
        previous = found


def test_a_frame_set_without_its_anchor_is_refused_by_name():
    with pytest.raises(ShiftlakeError, match="frame set b"):
        pm_k_correct(np.array(["a", "b"]), np.array([0, 1]), np.array([True, True]), 10)
