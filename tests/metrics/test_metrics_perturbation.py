"""ImageNet-P and DeepCorrect's averages, against numbers worked out by hand."""

import numpy as np
import pytest

from ops.errors import ShiftlakeError
from ops.metrics import (
    average_accuracy_7,
    flips,
    mean_over_10,
    mean_over_normaliser_pct,
    over_normaliser_pct,
    relative_robustness,
    top5_distance,
)
from ops.metrics.flips import PERTURBATIONS_10


def test_noise_is_compared_with_the_first_frame_and_all_else_with_the_previous():
    pred = np.array([[7, 7, 8, 8, 7], [1, 2, 3, 4, 5]])
    # 7 7 8 8 7: previous changes at 8 and at the last 7; two frames differ from the first.
    assert flips(pred, "previous").tolist() == [2, 4]
    assert flips(pred, "first").tolist() == [2, 4]
    pred = np.array([[7, 8, 8, 8, 8], [7, 8, 7, 8, 7]])
    assert flips(pred, "previous").tolist() == [1, 4]
    assert flips(pred, "first").tolist() == [4, 2]


def test_a_frame_that_cannot_be_read_agrees_with_no_other():
    pred = np.array([[3, 3, -1, 3], [-1, -1, -1, -1], [-1, 3, 3, 3]])
    assert flips(pred, "previous").tolist() == [2, 3, 1]
    assert flips(pred, "first").tolist() == [1, 3, 3]


def test_the_mean_is_over_the_ten_and_no_other():
    probability = {name: i / 100 for i, name in enumerate(PERTURBATIONS_10)}
    assert len(probability) == 10
    more = probability | {"shear": 0.9, "gaussian_noise_3": 0.9}
    assert mean_over_10(more) == pytest.approx(0.045)


SAME = [10, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("later", "distance"),
    [
        (SAME, 0),
        # The top two change places: |0 - 1| + |1 - 0|.
        ([11, 10, 12, 13, 14], 2),
        # Reversed: 4 + 2 + 0 + 2 + 4.
        ([14, 13, 12, 11, 10], 12),
        # A newcomer on top pushes everyone down one rank, the fifth beyond the top 5.
        ([99, 10, 11, 12, 13], 5),
        # The first leaves, the others move up: 5 + 1 + 1 + 1 + 1.
        ([11, 12, 13, 14, 99], 9),
        # Nothing in common: 5 + 4 + 3 + 2 + 1.
        ([90, 91, 92, 93, 94], 15),
        ([-1, -1, -1, -1, -1], 15),
        # The largest there is: the first three leave, and the last two become the first two.
        ([13, 14, 97, 98, 99], 18),
    ],
)
def test_the_top_5_distance_of_one_pair(later, distance):
    frames = np.array([[SAME, later]])
    assert top5_distance(frames, "previous").tolist() == [distance]
    assert top5_distance(frames, "first").tolist() == [distance]


def test_top_5_distances_add_up_over_the_pairs_of_a_sequence():
    swapped = [11, 10, 12, 13, 14]
    frames = np.array([[SAME, swapped, swapped, SAME], [SAME, SAME, swapped, SAME]])
    assert top5_distance(frames, "previous").tolist() == [4, 4]
    assert top5_distance(frames, "first").tolist() == [4, 2]


def test_the_top_5_distance_is_the_permutation_formula_of_all_ranks():
    # From the definition over the ranks of 40 classes, not over the five that are stored.
    rng = np.random.default_rng(0)
    logits = np.cumsum(rng.normal(size=(6, 9, 40)), axis=1)
    order = np.argsort(-logits, axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1)
    for reference in ("first", "previous"):
        expected = []
        for sequence, ranks in zip(order, rank, strict=True):
            total = 0
            for j in range(1, 9):
                before = 0 if reference == "first" else j - 1
                moved = ranks[j][sequence[before]]
                total += sum(abs(min(k, 5) - min(int(moved[k]), 5)) for k in range(5))
            expected.append(total)
        assert top5_distance(order[..., :5], reference).tolist() == expected


@pytest.mark.parametrize(("shape", "reference"), [((2, 1), "first"), ((2, 3), "next")])
def test_without_pairs_there_is_no_flip_probability(shape, reference):
    with pytest.raises(ShiftlakeError, match="cannot be compared"):
        flips(np.zeros(shape, int), reference)


def test_deepcorrects_average_counts_the_clean_images_as_a_level():
    # Table 1 of the paper: the pre-trained AlexNet under blur, printed average .2305.
    blur = dict(enumerate([0.4456, 0.2934, 0.1585, 0.0786, 0.0427, 0.0256], start=1))
    assert average_accuracy_7(0.5694, blur) == pytest.approx(0.2305, abs=1e-4)


def test_alexnets_flip_rate_is_100_percent_of_its_own():
    alexnet = {name: 0.02 + i / 100 for i, name in enumerate(PERTURBATIONS_10)}
    assert mean_over_normaliser_pct(alexnet, alexnet) == pytest.approx(100)
    half = {name: value / 2 for name, value in alexnet.items()}
    assert mean_over_normaliser_pct(half, alexnet) == pytest.approx(50)
    assert over_normaliser_pct(0.03, 0.12) == pytest.approx(25)


def test_the_mean_flip_rate_is_a_mean_of_ratios():
    alexnet = dict.fromkeys(PERTURBATIONS_10, 0.1) | {"tilt": 0.4}
    own = dict.fromkeys(PERTURBATIONS_10, 0.05) | {"tilt": 0.4}
    # Nine perturbations at 50 % and one at 100 %; the ratio of the means would be 65 %.
    assert mean_over_normaliser_pct(own, alexnet) == pytest.approx(55)
    more = own | {"shear": 0.9}
    assert mean_over_normaliser_pct(more, alexnet) == pytest.approx(55)


def test_relative_robustness_is_what_an_intervention_adds():
    gain = relative_robustness([0.45, 0.30], [0.36, 0.36])
    assert gain.tolist() == pytest.approx([0.09, -0.06])
