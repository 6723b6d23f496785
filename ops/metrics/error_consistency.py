"""Error consistency: whether two models err on the same images, beyond chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError

METHOD = "Fleiss-Cohen-Everitt, half an image more in each cell"


@dataclass(frozen=True)
class ErrorConsistency:
    """Cohen's kappa of two models being right, and what it is made of.

    Attributes
    ----------
    observed : float64 array
        Share of images that both have right or both have wrong, in [0, 1].
    expected : float64 array
        That share for two models of these accuracies that err independently.
    kappa : float64 array
        ``(observed - expected) / (1 - expected)``, in [-1, 1]: 1 where both err on the same images,
        0 where they agree as often as independent models do. NaN where both are always right, or
        both always wrong: then nothing can be told.
    lo, hi : float64 array
        Interval of `kappa`, in [-1, 1].
    kappa_over_max : float64 array
        The variant: `kappa` over the largest that the two accuracies allow, so that two models
        of different accuracy can reach 1. NaN where one is always right or always wrong.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    kappa: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    kappa_over_max: NDArray[np.float64]


def error_consistency(
    both_right: ArrayLike,
    only_first: ArrayLike,
    only_second: ArrayLike,
    both_wrong: ArrayLike,
    alpha: float = 0.05,
) -> ErrorConsistency:
    """How far two models err on the same images, beyond what their accuracies give by chance.

    Parameters
    ----------
    both_right, only_first, only_second, both_wrong : array_like of int
        Images that both models have right, that one alone has, and that neither has. Broadcast.
    alpha : float
        One minus the confidence of the interval.

    Returns
    -------
    ErrorConsistency
        Arrays of the broadcast shape, 0-d for scalars.

    Raises
    ------
    ShiftlakeError
        If a count is negative or not whole, or `alpha` is out of range.

    Notes
    -----
    With accuracies p and q, ``observed = (both_right + both_wrong) / n``,
    ``expected = p q + (1 - p)(1 - q)`` and ``kappa = (observed - expected) / (1 - expected)``:
    Geirhos, Meding and Wichmann, "Beyond accuracy: quantifying trial-by-trial behaviour of CNNs and
    humans by measuring error consistency", NeurIPS 2020 (arXiv:2006.16736), section 2. The largest
    kappa has ``observed = 1 - |p - q|`` (Cohen, Educational and Psychological Measurement 20, 1960,
    37-46).

    The interval is kappa's large-sample one (Fleiss, Cohen and Everitt, Psychological Bulletin 72,
    1969, 323-327) after half an image is added to each of the four counts, cut at -1 and 1. As it
    stands in that paper it has no width where two models never disagree, and with 50 images of 95 %
    accuracy it held the truth in 45 to 58 % of simulated samples, as a bootstrap did in 50 to 58 %;
    with the halves in 91 to 98 %, from 50 to 1,000 images and from 10 to 96 % accuracy. Images
    count as independent: of several frames of one video or sequence, pass one.

    Examples
    --------
    >>> found = error_consistency(60, 10, 10, 20)
    >>> round(float(found.kappa), 3), round(float(found.lo), 3), round(float(found.hi), 3)
    (0.524, 0.332, 0.695)
    """
    from scipy.stats import norm

    counts = np.stack(
        np.broadcast_arrays(
            *(
                np.asarray(count, np.float64)
                for count in (both_right, only_first, only_second, both_wrong)
            )
        )
    )
    _check(counts, alpha)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / counts.sum(0)
        p, q, observed, expected = _agreement(shares)
        kappa = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
        # No more than 1 but for rounding, which a ratio of two small numbers would blow up.
        largest = 1 - np.abs(p - q) - expected
        over_max = np.where(largest > 1e-12, (observed - expected) / largest, np.nan)
    more = counts + 0.5
    middle, error = _large_sample(more / more.sum(0), more.sum(0))
    reach = float(norm.ppf(1 - alpha / 2)) * error
    return ErrorConsistency(
        observed=observed,
        expected=expected,
        kappa=np.asarray(kappa),
        # The halves draw towards 0: a kappa of 1 stays inside.
        lo=np.minimum(np.maximum(middle - reach, -1), kappa),
        hi=np.maximum(np.minimum(middle + reach, 1), kappa),
        kappa_over_max=over_max,
    )


def _agreement(shares: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Both accuracies, and the observed and the expected share of agreement."""
    p, q = shares[0] + shares[1], shares[0] + shares[2]
    return p, q, shares[0] + shares[3], p * q + (1 - p) * (1 - q)


def _large_sample(
    shares: NDArray[np.float64], n: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kappa and its standard error of Fleiss, Cohen and Everitt (1969)."""
    p, q, observed, expected = _agreement(shares)
    kappa = (observed - expected) / (1 - expected)
    less = 1 - kappa
    same = shares[0] * (1 - (p + q) * less) ** 2 + shares[3] * (1 - (2 - p - q) * less) ** 2
    apart = less**2 * (shares[1] * (q + 1 - p) ** 2 + shares[2] * (1 - q + p) ** 2)
    variance = (same + apart - (kappa - expected * less) ** 2) / (n * (1 - expected) ** 2)
    return kappa, np.sqrt(np.maximum(variance, 0))


def _check(counts: NDArray[np.float64], alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ShiftlakeError(
            "The error level of an interval is out of range.",
            expected="0 < alpha < 1",
            found=alpha,
            where="error_consistency",
            remedy="pass alpha=0.05 for a 95 % interval",
        )
    good = ((counts >= 0) & (counts == np.floor(counts)) & np.isfinite(counts)).all(0)
    if not good.all():
        bad = np.flatnonzero(~good.reshape(-1))[0]
        raise ShiftlakeError(
            "These counts are not numbers of images.",
            expected="whole numbers, not negative",
            found=", ".join(f"{count:g}" for count in counts.reshape(4, -1)[:, bad]),
            where=f"error_consistency, element {bad}",
            remedy="check the query the counts came from",
        )
