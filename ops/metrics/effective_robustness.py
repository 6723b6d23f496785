"""Effective robustness: accuracy under shift beyond what accuracy without shift predicts.

Taori et al., Measuring Robustness to Natural Distribution Shifts in Image Classification (2020),
section 2: over models trained in the standard way, logit(accuracy under shift) is a line in
logit(accuracy without). A model's effective robustness is how far it lies above that line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.errors import ShiftlakeError
from ops.metrics.bootstrap import keyed_generator

# A line through fewer models says nothing about what is standard.
MIN_POOL = 10
RESAMPLES = 1000

_Array = NDArray[np.float64]


def logit(share: ArrayLike) -> _Array:
    """log(share / (1 - share)); -inf at 0 and inf at 1."""
    share = np.asarray(share, np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share) - np.log1p(-share))


def expit(value: ArrayLike) -> _Array:
    """Inverse of :func:`logit`, in [0, 1]."""
    # tanh never overflows, unlike exp.
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(value, np.float64))))


@dataclass(frozen=True)
class LogitFit:
    """The line logit(accuracy under shift) = slope * logit(accuracy without) + intercept.

    `n` is the number of models it was fitted to.
    """

    slope: float
    intercept: float
    n: int

    def expected(self, accuracy_id: ArrayLike) -> _Array:
        """Accuracy under shift that the line predicts, in [0, 1]."""
        return expit(self.slope * logit(accuracy_id) + self.intercept)


def fit_line(accuracy_id: ArrayLike, accuracy_ood: ArrayLike) -> LogitFit:
    """Fit the line by ordinary least squares on the logits.

    Parameters
    ----------
    accuracy_id, accuracy_ood : array of float, shape (N,), in [0, 1]
        Of the standard models, without and under shift. Pairs with a value of 0 or 1, or not
        finite, are left out: their logits are infinite.

    Raises
    ------
    ShiftlakeError
        If fewer than ``MIN_POOL`` pairs remain, or all have the same accuracy without shift.
    """
    x, y = _usable(accuracy_id, accuracy_ood)
    slope, intercept = _lines(x, y, np.ones((1, x.size)))
    return LogitFit(float(slope[0]), float(intercept[0]), int(x.size))


def effective_robustness(
    fit: LogitFit, accuracy_id: ArrayLike, accuracy_ood: ArrayLike
) -> NDArray[np.float64]:
    """Accuracy under shift above the line, in percentage points (rho of the paper)."""
    return 100.0 * (np.asarray(accuracy_ood, np.float64) - fit.expected(accuracy_id))


def fit_band(
    accuracy_id: ArrayLike,
    accuracy_ood: ArrayLike,
    at: ArrayLike,
    *keys: str,
    resamples: int = RESAMPLES,
    alpha: float = 0.05,
) -> tuple[_Array, _Array]:
    """Band of the fitted line: percentiles of the lines through resampled models.

    Parameters
    ----------
    accuracy_id, accuracy_ood : array of float, shape (N,), in [0, 1]
        As for :func:`fit_line`.
    at : array of float, shape (M,), in (0, 1)
        Accuracies without shift at which the band is wanted.
    *keys : str
        What is measured; the draws depend on these names alone.
    resamples : int
    alpha : float

    Returns
    -------
    lo, hi : ndarray of float, shape (M,), in [0, 1]
        Of the expected accuracy under shift: how well the line is known, not how far models
        scatter around it.

    Raises
    ------
    ShiftlakeError
        As :func:`fit_line`.
    """
    x, y = _usable(accuracy_id, accuracy_ood)
    drawn = keyed_generator("effective robustness", *keys).integers(0, x.size, (resamples, x.size))
    cells = drawn + np.arange(resamples)[:, None] * x.size
    weights = np.bincount(cells.reshape(-1), minlength=resamples * x.size)
    slope, intercept = _lines(x, y, weights.reshape(resamples, x.size).astype(np.float64))
    lines = slope[:, None] * logit(at) + intercept[:, None]
    # A resample of one model many times has no slope.
    lo, hi = np.quantile(lines[np.isfinite(slope)], [alpha / 2, 1 - alpha / 2], axis=0)
    return expit(lo), expit(hi)


def _usable(accuracy_id: ArrayLike, accuracy_ood: ArrayLike) -> tuple[_Array, _Array]:
    x, y = (np.asarray(each, np.float64) for each in (accuracy_id, accuracy_ood))
    keep = (x > 0) & (x < 1) & (y > 0) & (y < 1)
    if keep.sum() < MIN_POOL or np.ptp(x[keep]) == 0:
        raise ShiftlakeError(
            "There are too few models to fit a line to.",
            expected=f"at least {MIN_POOL} standard models of different accuracy",
            found=f"{int(keep.sum())} with an accuracy between 0 and 1 on both",
            where="effective robustness",
            remedy="import the reference results: shiftlake reference import",
        )
    return logit(x[keep]), logit(y[keep])


def _lines(x: _Array, y: _Array, weights: _Array) -> tuple[_Array, _Array]:
    """Slope and intercept of the weighted least squares line, for each row of weights."""
    total = weights.sum(axis=1)
    # Sums, not matrix products: BLAS may add in another order on another machine.
    mean_x, mean_y = (weights * x).sum(axis=1) / total, (weights * y).sum(axis=1) / total
    dx, dy = x - mean_x[:, None], y - mean_y[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (weights * dx * dy).sum(axis=1) / (weights * dx * dx).sum(axis=1)
    return slope, mean_y - slope * mean_x
