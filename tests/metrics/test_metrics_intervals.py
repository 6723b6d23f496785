"""Intervals of proportions: exact on the published counts, honest about their coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ops.errors import ShiftlakeError
from ops.metrics import clopper_pearson, keyed_generator


@pytest.mark.parametrize(
    ("k", "n", "value", "lo", "hi"),
    [
        (749, 1109, 67.538, 64.69, 70.29),
        (582, 1109, 52.480, 49.49, 55.45),
        (1158, 2030, 57.044, 54.86, 59.21),
        (890, 2030, 43.842, 41.67, 46.03),
    ],
)
def test_the_published_resnet50_video_intervals(k, n, value, lo, hi):
    found_lo, found_hi = clopper_pearson(k, n)
    assert round(100 * k / n, 3) == value
    assert (round(100 * float(found_lo), 2), round(100 * float(found_hi), 2)) == (lo, hi)


def test_edges_are_closed_and_no_trials_say_nothing():
    lo, hi = clopper_pearson([0, 10, 0], [10, 10, 0])
    assert lo[0] == 0
    assert hi[1] == 1
    # At k = 0 and k = n the one open side has the closed form 1 - (alpha/2)^(1/n).
    assert hi[0] == pytest.approx(1 - 0.025 ** (1 / 10))
    assert lo[1] == pytest.approx(0.025 ** (1 / 10))
    assert np.isnan([lo[2], hi[2]]).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_bound_leaves_half_alpha_in_its_tail(data):
    n = data.draw(st.integers(1, 5000))
    k = data.draw(st.integers(0, n))
    alpha = data.draw(st.sampled_from([0.01, 0.05, 0.2]))
    lo, hi = clopper_pearson(k, n, alpha)
    if k > 0:
        assert binom.sf(k - 1, n, float(lo)) == pytest.approx(alpha / 2, rel=1e-5)
    if k < n:
        assert binom.cdf(k, n, float(hi)) == pytest.approx(alpha / 2, rel=1e-5)
    assert lo <= k / n <= hi


@pytest.mark.parametrize("p", [0.02, 0.31, 0.5, 0.97])
@pytest.mark.parametrize("n", [7, 60])
def test_the_interval_covers_the_truth_at_least_as_often_as_it_says(p, n):
    k = np.arange(n + 1)
    lo, hi = clopper_pearson(k, n)
    covered = binom.pmf(k, n, p)[(lo <= p) & (p <= hi)].sum()
    assert covered >= 0.95


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (1.5, 5), ([1, 9], [5, 5])])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ShiftlakeError, match="0 <= k <= n"):
        clopper_pearson(k, n)


def test_an_impossible_alpha_is_refused():
    with pytest.raises(ShiftlakeError, match="0 < alpha < 1"):
        clopper_pearson(1, 2, alpha=5)


def test_random_numbers_depend_on_the_key_alone():
    first = keyed_generator("imagenet_o", "a").random(3)
    assert (first == keyed_generator("imagenet_o", "a").random(3)).all()
    assert (first != keyed_generator("imagenet_o", "b").random(3)).all()


# Table 2 of the video paper: the 22 cells of which a count gives the printed figure back.
ANCHORS = {"imagenet_vid_robust": 1109, "ytbb_robust": 2030}
TABLE_2 = {
    "imagenet_vid_robust": {
        **{749: 67.5, 582: 52.5, 763: 68.8, 590: 53.2, 602: 54.3, 896: 80.8, 729: 65.7},
        **{401: 36.2, 330: 29.8, 940: 84.8, 778: 70.2},
    },
    "ytbb_robust": {
        **{1158: 57.0, 890: 43.8, 1265: 62.3, 928: 45.7, 1088: 53.6, 876: 43.2, 1855: 91.4},
        **{1665: 82.0, 1885: 92.9, 1719: 84.7, 1796: 88.5},
    },
}


def _percent(value):
    """Rounded half up to a tenth, as the table is."""
    return np.floor(1000 * np.asarray(value) + 0.5) / 10


def test_the_22_cells_of_the_video_papers_table_are_counts():
    assert sum(len(cells) for cells in TABLE_2.values()) == 22
    for benchmark, cells in TABLE_2.items():
        n = ANCHORS[benchmark]
        assert {k: _percent(k / n) for k in cells} == cells
        lo, hi = clopper_pearson(list(cells), n)
        # All are given with a margin of at most 3 points.
        assert (hi - lo < 0.06).all()


@pytest.mark.parametrize(
    ("k", "n", "lo", "hi"),
    [
        # Printed brackets, to a tenth.
        (749, 1109, 64.7, 70.3),
        (582, 1109, 49.5, 55.5),
        # What the six cells that are no count's would have been.
        (452, 1109, 37.8, 43.7),
        (861, 1109, 75.1, 80.1),
        (725, 1109, 62.5, 68.2),
        (1057, 1109, 93.9, 96.5),
        (1056, 1109, 93.8, 96.4),
        (989, 1109, 87.2, 90.9),
        (1927, 2030, 93.9, 95.8),
        # The drop is a count too, and so is the share of right anchors that flip.
        (167, 1109, 13.0, 17.3),
        (162, 1109, 12.6, 16.8),
        (166, 2030, 7.0, 9.5),
        (167, 896, 16.1, 21.3),
        (71, 401, 14.1, 21.8),
    ],
)
def test_brackets_of_the_video_benchmarks_to_a_tenth(k, n, lo, hi):
    assert [float(_percent(bound)) for bound in clopper_pearson(k, n)] == [lo, hi]
