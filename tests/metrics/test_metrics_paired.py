"""Two models on the same images: tests, intervals and judgements, against what is known of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial, norm, poisson
from sklearn.metrics import average_precision_score, roc_auc_score

from ops.errors import ShiftlakeError
from ops.metrics import keyed_generator, stratified_bootstrap
from ops.metrics.average_precision import average_precision_from_counts
from ops.metrics.clopper_pearson import clopper_pearson
from ops.metrics.clustered_mcnemar import clustered_mcnemar
from ops.metrics.holm import holm
from ops.metrics.mcnemar import mcnemar
from ops.metrics.non_inferiority import judge
from ops.metrics.paired_bootstrap import paired_bootstrap
from ops.metrics.paired_detection import paired_detection
from ops.metrics.paired_difference import paired_difference

counts = st.integers(0, 400)


def test_mcnemar_is_the_binomial_test_on_the_discordant_pairs():
    pairs = [(b, c) for b, c in itertools.product(range(0, 60, 3), repeat=2) if b + c]
    pairs += [(2, 11), (167, 0), (20_000, 20_500), (1, 0)]
    ours = mcnemar(*np.array(pairs).T)
    scipys = [binomtest(b, b + c).pvalue for b, c in pairs]
    np.testing.assert_allclose(ours, scipys, rtol=1e-12)


def test_mcnemar_without_a_discordant_image_says_nothing():
    assert mcnemar(0, 0) == 1
    assert mcnemar(7, 7) == 1
    assert mcnemar([[0], [5]], [0, 5, 20]).shape == (2, 3)
    with pytest.raises(ShiftlakeError, match="not numbers of images"):
        mcnemar([3, -1], [1, 1])


@given(counts, counts)
def test_mcnemar_does_not_know_which_model_is_which(b, c):
    assert mcnemar(b, c) == mcnemar(c, b)
    assert 0 < mcnemar(b, c) <= 1


def sign_flips(differences):
    """Every pattern of signs, written out."""
    total = abs(sum(differences))
    signs = itertools.product((-1, 1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(each, differences, strict=True))) for each in signs]
    return sum(value >= total - 1e-9 for value in sums) / len(sums)


def test_clustered_mcnemar_of_single_images_is_mcnemar():
    for b, c in [(0, 5), (3, 9), (8, 8), (1, 0)]:
        rows = np.array([-1.0] * b + [1.0] * c + [0.0] * 30)
        assert clustered_mcnemar(rows) == pytest.approx(float(mcnemar(b, c)))
    # Beyond 16 it is the chi-squared without correction, whose limit is the same.
    rows = np.array([-1.0] * 80 + [1.0] * 120)
    assert clustered_mcnemar(rows) == pytest.approx(2 * norm.sf(40 / np.sqrt(200)))
    assert clustered_mcnemar(rows) == pytest.approx(float(mcnemar(80, 120)), rel=0.25)
    assert clustered_mcnemar(np.zeros(9)) == 1
    assert 0 < clustered_mcnemar(np.ones(50_000)) < 1e-300


@settings(max_examples=25)
@given(st.lists(st.integers(-75, 75), max_size=9))
def test_clustered_mcnemar_counts_every_pattern_of_signs(differences):
    # In 75ths, so that equal sums of rounded numbers have to compare as equal.
    rows = np.array(differences, float) / 75
    expected = sign_flips([d for d in differences if d])
    assert clustered_mcnemar(rows) == pytest.approx(expected)


def test_clustered_mcnemar_sees_that_one_photograph_is_no_75_images():
    rows = np.zeros(1000)
    rows[:3] = 75
    assert mcnemar(0, 225) < 1e-60
    assert clustered_mcnemar(rows) == 0.25


def test_holm_by_hand():
    # Four tests: 4 x 0.01, 3 x 0.02, 2 x 0.03, 1 x 0.2, never falling.
    np.testing.assert_allclose(holm([0.03, 0.2, 0.01, 0.02]), [0.06, 0.2, 0.04, 0.06])
    np.testing.assert_allclose(holm([0.5, np.nan, 0.4]), [0.8, np.nan, 0.8])
    assert holm([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_none_and_bonferroni_and_keeps_the_order(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1, len(p) * np.array(p)) + 1e-15).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_tangos_interval_has_its_published_figures():
    # Airway hyper-responsiveness before and after transplantation, 1 and 7 of 21 discordant
    # (Bentur et al., 2009, as in Fagerlund et al., BMC Medical Research Methodology 14, 2014).
    np.testing.assert_allclose(paired_difference(7, 1, 21), (-0.517, -0.026), atol=5e-4)
    # Where no image is discordant, it has a closed form.
    z2 = norm.ppf(0.975) ** 2
    for n in (1, 100, 50_000):
        lo, hi = paired_difference(0, 0, n)
        assert hi == pytest.approx(z2 / (n + z2))
        assert lo == -hi
    assert np.isnan(paired_difference(0, 0, 0)).all()


@settings(max_examples=60)
@given(counts, counts, st.integers(0, 50_000), st.sampled_from([0.01, 0.05, 0.2]))
def test_tangos_bounds_are_where_the_score_test_stops_refusing(lost, gained, both, alpha):
    n = lost + gained + both
    if not n:
        return
    lo, hi = (float(end) for end in paired_difference(lost, gained, n, alpha))
    assert -1 <= lo <= (gained - lost) / n <= hi <= 1
    mirrored = paired_difference(gained, lost, n, alpha)
    assert (float(mirrored[0]), float(mirrored[1])) == (-hi, -lo)
    z = norm.ppf(1 - alpha / 2)
    for end, sign in ((hi, 1), (lo, -1)):
        if abs(end) < 1:
            # The quadratic of the restricted likelihood, of the share of `lost` alone.
            a, b = 2 * n, (2 * n - (gained - lost)) * end - gained - lost
            c = -lost * end * (1 - end)
            q = (np.sqrt(max(b * b - 4 * a * c, 0)) - b) / (2 * a)
            score = n * end - (gained - lost)
            spread = np.sqrt(max(n * (2 * q + end * (1 - end)), 0))
            assert sign * score == pytest.approx(z * spread, rel=1e-6, abs=1e-6)


def missed(n, lost, gained):
    """How often each bound misses, exactly, with on average so many discordant images."""
    b, c = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
    possible = b + c <= n
    shares = [lost / n, gained / n, 1 - (lost + gained) / n]
    cells = np.stack([b, c, np.maximum(n - b - c, 0)], axis=-1)
    chance = np.where(possible, multinomial.pmf(cells, n, shares), 0)
    lo, hi = paired_difference(b * possible, c * possible, n)
    truth = (gained - lost) / n
    return chance[lo > truth].sum(), chance[hi < truth].sum()


def test_a_loss_is_called_smaller_than_it_is_as_rarely_as_the_gate_promises():
    # Not simulated: every outcome with its chance. The bound that a gate goes by is the one that
    # says how large the loss may be, where there is a loss.
    for n, losses in ((50, (0.5, 2, 8, 20)), (2000, (0.2, 1, 5, 12, 20))):
        for lost in losses:
            for gained in (0, 0.2, 2, 8):
                if gained <= lost:
                    wrongly_shown, other = missed(n, lost, gained)
                    assert wrongly_shown < 0.03
                    # The two sides together: rarely so few are discordant that it is over 5 %.
                    assert wrongly_shown + other < 0.07


def test_an_interval_of_few_losses_is_that_of_a_poisson_mean_and_never_too_narrow():
    for lost in range(12):
        exact = clopper_pearson(lost, 50_000)[1]
        upper = -float(paired_difference(lost, 0, 50_000)[0])
        assert exact < upper < exact + 0.4 / 50_000


def test_paired_bootstrap_has_the_width_of_the_central_limit():
    rng = np.random.default_rng(0)
    rows = rng.normal([0.2, -3.0], [1.0, 40.0], size=(4000, 2))
    lo, hi, few = paired_bootstrap(rows, np.abs(rows).max(axis=0), resamples=2000)
    half = norm.ppf(0.975) * rows.std(axis=0) / np.sqrt(4000)
    np.testing.assert_allclose((hi - lo) / 2, half, rtol=0.06)
    np.testing.assert_allclose((hi + lo) / 2, rows.mean(axis=0), atol=0.1 * half.max())
    assert not few.any()


def test_paired_bootstrap_has_the_same_bits_whatever_is_beside_it():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(700, 3))
    together = paired_bootstrap(rows, np.full(3, 9.0), resamples=500)
    again = paired_bootstrap(rows[:, ::-1].copy(), np.full(3, 9.0), resamples=500)
    for one, other in zip(together, again, strict=True):
        assert (one == other[::-1]).all()
    # Bounds of the opposite are the opposite bounds.
    lo, hi, _ = paired_bootstrap(-rows, np.full(3, 9.0), resamples=500)
    np.testing.assert_allclose(-hi, together[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(-lo, together[1], rtol=0, atol=1e-12)


def test_no_difference_between_few_images_shows_nothing():
    lo, hi, few = paired_bootstrap(np.zeros((10, 1)), np.array([100.0]))
    assert few.all()
    assert hi[0] == -lo[0] == pytest.approx(100 * (1 - 0.025 ** (1 / 10)))
    lo, hi, _ = paired_bootstrap(np.zeros((50_000, 1)), np.array([100.0]))
    assert hi[0] == pytest.approx(100 * 3.69 / 50_000, rel=0.01)


def test_bounds_of_rare_differences_hold():
    # Compound Poisson, the worst case: losses only, few, and of very unequal size.
    rng = np.random.default_rng(2)
    wrong = few_of = 0
    for _ in range(150):
        size = rng.exponential(0.15, size=rng.binomial(1000, 0.012)).clip(max=1)
        rows = np.zeros((1000, 1))
        rows[: size.size, 0] = -size
        lo, _, few = paired_bootstrap(rows, np.array([1.0]), resamples=10)
        few_of += few[0]
        wrong += lo[0] > -0.012 * 0.15
    assert few_of == 150
    assert wrong <= 5
    # With more of them percentiles take over, which are nominal for even sizes.
    wrong = 0
    for _ in range(150):
        rows = np.zeros((1000, 1))
        rows[: rng.binomial(1000, 0.06), 0] = -1
        lo, _, few = paired_bootstrap(rows, np.array([1.0]), resamples=200)
        wrong += lo[0] > -0.06
    assert poisson.sf(wrong, 150 * 0.025) > 1e-4


def test_a_few_large_differences_among_many_small_ones_are_few():
    # As uneven as (95 + 5 * 75) ** 2 / (95 + 5 * 75 ** 2) = 7.8 images.
    rows = np.zeros((1000, 2))
    rows[:100] = -1
    rows[:5, 0] = -75
    lo, hi, few = paired_bootstrap(rows, np.array([75.0, 1.0]), resamples=200)
    assert few.tolist() == [True, False]
    assert lo[0] == pytest.approx(-75 * clopper_pearson(100, 1000)[1])
    # None of the large ones seen, as may be by chance of 3.69 in a thousand.
    alone = paired_bootstrap(rows[:, 1:], np.array([75.0]), resamples=200)
    unseen = 74 * (1 - 0.025 ** (1 / 1000))
    assert not alone[2].any()
    assert alone[0][0] == pytest.approx(lo[1] - unseen)
    assert alone[1][0] == pytest.approx(hi[1] + unseen)


def test_bounds_of_very_unequal_differences_hold():
    # 5 % of the differing images lose 75 times as much; percentiles alone held in 87 %.
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(200):
        rows = np.zeros((1000, 1))
        differing = rng.binomial(1000, 0.035)
        rows[:differing, 0] = -np.where(rng.random(differing) < 0.05, 75, 1)
        lo, _, _ = paired_bootstrap(rows, np.array([75.0]), resamples=200)
        wrong += lo[0] > -0.035 * (0.95 + 0.05 * 75)
    assert poisson.sf(wrong, 200 * 0.025) > 1e-3


def detectors(n_out=60, n_in=200, seed=3):
    rng = np.random.default_rng(seed)
    positive = np.arange(n_out + n_in) < n_out
    first = rng.normal(size=positive.size) + positive
    return positive, first, first + rng.normal(scale=0.5, size=positive.size)


def test_paired_detection_has_scikit_learns_values_and_is_paired():
    positive, first, second = detectors()
    found = paired_detection(
        positive, first, second, keyed_generator("a"), metrics=("aupr", "auroc"), resamples=400
    )
    assert found["aupr"].first == pytest.approx(average_precision_score(positive, first))
    assert found["aupr"].second == pytest.approx(average_precision_score(positive, second))
    assert found["auroc"].second == pytest.approx(roc_auc_score(positive, second))
    delta = found["aupr"].second - found["aupr"].first
    assert found["aupr"].lo < delta < found["aupr"].hi
    # The same detector twice: not one resample tells them apart, as unpaired ones would.
    same = paired_detection(positive, first, first * 2, keyed_generator("a"), resamples=200)
    assert np.isnan([same["aupr"].lo, same["aupr"].hi]).all()
    assert same["aupr"].p == 1


def test_a_detector_without_spread_has_no_interval():
    positive = np.arange(120) < 20
    found = paired_detection(positive, np.ones(120), np.ones(120), keyed_generator("a"))["aupr"]
    assert np.isnan([found.lo, found.hi]).all()
    assert judge(found.second - found.first, found.lo, 0.005, found.p) == "inconclusive"
    metrics = {"aupr": average_precision_from_counts}
    ends = stratified_bootstrap(positive, positive * 1.0, metrics, keyed_generator("a"))["aupr"]
    assert np.isnan(ends).all()


def test_paired_detection_finds_a_lost_detector():
    positive, first, _ = detectors()
    noise = np.random.default_rng(4).normal(size=positive.size)
    found = paired_detection(positive, first, noise, keyed_generator("a"), resamples=400)["aupr"]
    assert found.hi < 0
    assert found.p == pytest.approx(2 / 401)
    assert (
        found
        == paired_detection(positive, first, noise, keyed_generator("a"), resamples=400)["aupr"]
    )


@pytest.mark.parametrize(
    ("advantage", "lo", "p", "verdict"),
    [
        (0.001, -0.004, 0.5, "pass"),
        # A significant loss, and yet one that the margin accepts.
        (-0.002, -0.004, 0.001, "pass"),
        (-0.004, -0.006, 0.001, "fail"),
        # Not significant, but more was lost than is accepted.
        (-0.006, -0.02, 0.3, "fail"),
        (-0.004, -0.02, 0.3, "inconclusive"),
        # Significantly better is never a fail, however wide the interval.
        (0.01, -0.006, 0.01, "inconclusive"),
        (-0.004, -0.02, None, "inconclusive"),
        (0.0, np.nan, 1.0, "inconclusive"),
        # The margin itself is not ruled out.
        (0.0, -0.005, 1.0, "inconclusive"),
    ],
)
def test_judgements(advantage, lo, p, verdict):
    assert judge(advantage, lo, 0.005, p) == verdict
