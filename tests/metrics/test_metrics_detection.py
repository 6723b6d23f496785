"""Detection: equal to scikit-learn, chance where it should be, flipped labels noticed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from ops.errors import ShiftlakeError
from ops.metrics import (
    auroc,
    average_precision,
    detection_metrics,
    energy,
    fpr_at_recall,
    max_logit,
    max_sigmoid,
    max_softmax,
)
from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.metrics.thresholds import counts_at_thresholds

# Few distinct scores, so that ties are common.
scored = st.lists(
    st.tuples(st.booleans(), st.integers(-3, 3) | st.floats(-5, 5)), min_size=2, max_size=60
).filter(lambda rows: {positive for positive, _ in rows} == {True, False})


@settings(max_examples=150, deadline=None)
@given(scored)
def test_aupr_and_auroc_equal_scikit_learn(rows):
    positive = np.array([p for p, _ in rows])
    score = np.array([s for _, s in rows], float)
    assert average_precision(positive, score) == pytest.approx(
        average_precision_score(positive, score)
    )
    assert auroc(positive, score) == pytest.approx(roc_auc_score(positive, score))


@settings(max_examples=100, deadline=None)
@given(scored)
def test_fpr95_is_the_least_over_thresholds_that_find_95_percent(rows):
    positive = np.array([p for p, _ in rows])
    score = np.array([s for _, s in rows], float)
    finds = [t for t in score if np.mean(score[positive] >= t) >= 0.95]
    expected = min(np.mean(score[~positive] >= t) for t in finds)
    assert fpr_at_recall(positive, score) == pytest.approx(expected)


def test_constant_scores_are_at_chance():
    found, chance = detection_metrics(np.full(2000, 0.5), np.full(10000, 0.5), key="x")
    values = {row.metric: row.value for row in found}
    assert values == {"aupr": pytest.approx(2000 / 12000), "auroc": 0.5, "fpr95": 1.0}
    assert chance == pytest.approx(1 / 6)


def _realistic():
    rng = np.random.default_rng(3)
    return max_softmax(rng.beta(2, 3, 2000)), max_softmax(rng.beta(4, 2, 10000))


def test_flipped_labels_fall_below_chance():
    outside, inside = _realistic()
    right, chance = detection_metrics(outside, inside, key="x", resamples=20)
    flipped, _ = detection_metrics(-outside, -inside, key="x", resamples=20)
    assert right[0].value > 2 * chance
    assert flipped[0].value < chance


def test_the_bootstrap_interval_holds_the_value_and_repeats_exactly():
    outside, inside = _realistic()
    first, _ = detection_metrics(outside, inside, key="run1")
    again, _ = detection_metrics(outside, inside, key="run1")
    other, _ = detection_metrics(outside, inside, key="run2")
    assert first == again
    assert (first[0].ci_lo, first[0].ci_hi) != (other[0].ci_lo, other[0].ci_hi)
    for row in first:
        assert row.ci_lo < row.value < row.ci_hi
        assert "bootstrap" in row.ci_method
        assert row.n == 12000


def test_the_bootstrap_spread_is_that_of_fresh_samples():
    # Truth by simulation: the spread of AUPR over independent draws of the same population.
    rng = np.random.default_rng(5)
    truth = np.std(
        [
            average_precision(
                np.arange(1200) < 200, -np.r_[rng.beta(2, 3, 200), rng.beta(4, 2, 1000)]
            )
            for _ in range(300)
        ]
    )
    outside, inside = max_softmax(rng.beta(2, 3, 200)), max_softmax(rng.beta(4, 2, 1000))
    found, _ = detection_metrics(outside, inside, key="x")
    assert (found[0].ci_hi - found[0].ci_lo) / (2 * 1.96) == pytest.approx(truth, rel=0.25)


def test_unreadable_images_count_against_the_model():
    outside, inside = _realistic()
    whole, _ = detection_metrics(outside, inside, key="x", resamples=20)
    outside[:50] = np.nan
    inside[:50] = np.nan
    broken, _ = detection_metrics(outside, inside, key="x", resamples=20)
    assert broken[0].value < whole[0].value


def test_one_sided_scores_are_refused():
    with pytest.raises(ShiftlakeError, match="at least one positive and one negative"):
        average_precision(np.array([True, True]), np.array([0.1, 0.2]))


def test_nan_scores_are_refused():
    with pytest.raises(ShiftlakeError, match="1 of them NaN"):
        auroc(np.array([True, False]), np.array([0.1, np.nan]))


@settings(max_examples=60, deadline=None)
@given(scored)
def test_the_thresholds_are_scikit_learns_roc_curve(rows):
    positive = np.array([p for p, _ in rows])
    score = np.array([s for _, s in rows], float)
    tp, fp = counts_at_thresholds(positive, score)
    expected_fp, expected_tp, _ = roc_curve(positive, score, drop_intermediate=False)
    assert (tp / positive.sum()).tolist() == pytest.approx(expected_tp[1:].tolist())
    assert (fp / (~positive).sum()).tolist() == pytest.approx(expected_fp[1:].tolist())


def test_chance_is_one_in_six_whatever_the_score():
    for name, (score, _) in OUTLIER_SCORES.items():
        found, chance = detection_metrics(
            score(np.full(2000, 0.5)), score(np.full(10000, 0.5)), key=name, resamples=5
        )
        assert round(100 * chance, 2) == 16.67
        assert found[0].value == pytest.approx(chance)


def test_scores_rise_as_every_confidence_falls():
    logits = np.random.default_rng(0).normal(size=(50, 200)) * 3
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    top, total = logits.max(axis=1), shifted.sum(axis=1)
    logsumexp = top + np.log(total)
    assert max_softmax(1 / total) == pytest.approx(-(shifted / total[:, None]).max(axis=1))
    assert energy(logsumexp) == pytest.approx(-np.log(np.exp(logits).sum(axis=1)))
    assert max_sigmoid(top) == pytest.approx(-(1 / (1 + np.exp(-logits))).max(axis=1))
    # One likely class of unlikely ones: large logits all round give energy, not softmax, its say.
    assert energy(logsumexp + 5) == pytest.approx(energy(logsumexp) - 5)
    assert (max_logit(top + 5) < max_logit(top)).all()


def test_independent_sigmoids_rank_images_as_their_logits_do():
    rng = np.random.default_rng(1)
    outside, inside = rng.normal(2, 2, 300), rng.normal(4, 2, 900)
    by_logit, _ = detection_metrics(max_logit(outside), max_logit(inside), key="x", resamples=20)
    by_sigmoid, _ = detection_metrics(
        max_sigmoid(outside), max_sigmoid(inside), key="x", resamples=20
    )
    assert by_logit == by_sigmoid
