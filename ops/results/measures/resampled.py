"""Means over renderings of the same photographs, and metrics that are functions of them.

A metric's formula is applied twice: to the means, and to every resample of them. So no interval
has a formula of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics import percentile_interval, resampled_means
from ops.metrics.clustered_bootstrap import METHOD
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
    """

    unit: Unit
    values: Mapping[Key, float]
    resamples: Resamples[Key] | None
    n: int | None

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
            lo = hi = math.nan
            if self.resamples is not None:
                lo, hi = percentile_interval(np.asarray(formula(self.resamples)), ALPHA)
        if not math.isnan(lo):
            fields |= {"ci_lo": lo, "ci_hi": hi, "ci_method": METHOD}
        return [self.unit.row(metric, variant, value, condition=condition, n=self.n, **fields)]


def resample(tables: Sequence[Totals[Key] | None]) -> list[Resamples[Key] | None]:
    """Resample every table; those of equally many source images share their draws, and the work."""
    found: list[Resamples[Key] | None] = [None] * len(tables)
    alike: dict[int, list[int]] = defaultdict(list)
    for i, table in enumerate(tables):
        if table is not None and table.total.size:
            alike[len(table.total)].append(i)
    for places in alike.values():
        some = [table for i in places if (table := tables[i]) is not None]
        drawn = resampled_means(
            np.concatenate([table.total for table in some], axis=1),
            np.concatenate([table.size for table in some], axis=1),
        )
        ends = np.cumsum([len(table.columns) for table in some])
        for i, table, part in zip(places, some, np.split(drawn, ends[:-1], axis=1), strict=True):
            found[i] = dict(zip(table.columns, part.T, strict=True))
    return found
