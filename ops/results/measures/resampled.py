"""Means over renderings of the same photographs, and metrics that are functions of them.

A metric's formula is applied twice: to the means, and to every resample of them. So no interval
has a formula of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics import resampled_means
from ops.metrics.clustered_interval import clustered_interval
from ops.results.measures.unit import ALPHA, Row, Unit

# What a mean is of: a corruption and its severity, or a perturbation and a distance.
Key = TypeVar("Key", bound=Hashable)

Formula = Callable[[Mapping[Key, ArrayLike]], ArrayLike]


@dataclass(frozen=True)
class Totals(Generic[Key]):
    """What each source image adds to each of some means.

    Parameters
    ----------
    columns : tuple
        What the means are of.
    total : ndarray, shape (M, K)
        Of M source images, in the order of their names.
    size : ndarray, shape (M, K)
        Rows behind each total.
    """

    columns: tuple[Key, ...]
    total: NDArray[np.number]
    size: NDArray[np.number]


Resamples = Mapping[Key, NDArray[np.float64]]


@dataclass(frozen=True)
class Means(Generic[Key]):
    """Means of one unit, and each of them in every resample of the source images.

    Parameters
    ----------
    unit : Unit
        The rows are about it.
    values : mapping
    resamples : mapping or None
        None where it is not known which rows are of the same source image, or some are missing.
    n : int or None
        Source images.
    by_image : mapping or None
        What each source image adds: shape (n,), their mean is the value.
    sources : ndarray or None
        Names of the source images, where some of the clean ones were left out.
    """

    unit: Unit
    values: Mapping[Key, float]
    resamples: Resamples[Key] | None
    n: int | None
    by_image: Resamples[Key] | None = None
    sources: NDArray[np.str_] | None = None

    def rows(
        self,
        metric: str,
        variant: str,
        condition: str,
        formula: Formula[Key],
        **fields: Any,
    ) -> list[Row]:
        """The row of a metric, or none where it is not defined: a denominator is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.asarray(formula(self.values)))
            if not math.isfinite(value):
                return []
            if self.resamples is not None and self.by_image is not None:
                drawn = np.asarray(formula(self.resamples))
                score = np.asarray(formula(self.by_image))
                lo, hi, method = clustered_interval(score, drawn, ALPHA)
                if not math.isnan(lo):
                    fields |= {"ci_lo": lo, "ci_hi": hi, "ci_method": method}
        return [self.unit.row(metric, variant, value, condition=condition, n=self.n, **fields)]


def resampled(unit: Unit, values: Mapping[Key, float], table: Totals[Key]) -> Means[Key]:
    """Means of a unit with their resamples; without, where the table is empty.

    Formulas are sums of means with fixed weights, so a formula of what every source image adds is
    what the image adds to the metric.
    """
    if not table.total.size:
        return Means(unit, values, None, len(table.total))
    drawn = resampled_means(table.total, table.size)
    by_image = {}
    for key, total, size in zip(table.columns, table.total.T, table.size.T, strict=True):
        # Where images have different numbers of rows, a mean is a ratio, and this its first order.
        value = total.sum() / size.sum()
        by_image[key] = value + (total - value * size) * (len(size) / size.sum())
    resamples = dict(zip(table.columns, drawn.T, strict=True))
    return Means(unit, values, resamples, len(table.total), by_image)
