"""The laws of keyed draws as tables over 16 random bits.

Here: which number each of the 65,536 halves stands for. The tables are the same on every machine:
what goes into them is rounded far more coarsely than a mathematical library can differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

HALVES = 1 << 16


@lru_cache(maxsize=1)
def normal() -> npt.NDArray[np.float64]:
    """Standard normal numbers, one for each half.

    Returns
    -------
    float64 array, shape (65536,)
        The quantiles of ``(half + 0.5) / 65536``, scaled to variance 1 and rounded to multiples
        of 2**-20 (exact in float32 too); ascending and odd; they end at 4.33 either side.
    """
    from scipy.special import ndtri

    upper = ndtri((np.arange(HALVES // 2, HALVES) + 0.5) / HALVES)
    upper = np.rint(upper / math.sqrt(np.mean(upper**2)) * 2.0**20) * 2.0**-20
    table = np.concatenate((-upper[::-1], upper))
    table.flags.writeable = False
    return table


def impulse_threshold(amount: float) -> int:
    """Half the number of halves that flip a sample: those below it are salt.

    Parameters
    ----------
    amount : float
        Fraction of flipped samples, in [0, 1].

    Returns
    -------
    int
        ``amount * 2**15``, rounded.
    """
    return round(amount * HALVES / 2)


@dataclass(frozen=True)
class Poisson:
    """Alias tables (Walker 1974) of several rates, one after the other.

    A half's upper bits choose a column of its rate's table and its lower ``shift`` bits are
    compared with the column's threshold: below it the count is the column's own, else its alias.

    Parameters
    ----------
    start, shift : int64 arrays, shape (n_rates,)
        Index of a rate's first column, and the number of bits below those of the column.
    threshold, own, alias : int64 arrays, shape (n_columns,)
        Threshold in [0, 2**shift], and the two counts.
    """

    start: npt.NDArray[np.int64]
    shift: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.int64]
    own: npt.NDArray[np.int64]
    alias: npt.NDArray[np.int64]

    def counts(
        self, rate: npt.NDArray[np.intp], halves: npt.NDArray[np.uint16]
    ) -> npt.NDArray[np.int64]:
        """Counts of halves.

        Parameters
        ----------
        rate : int array, shape (n,)
            Indices of rates.
        halves : uint16 array, shape (n,)
            Random bits.

        Returns
        -------
        int64 array, shape (n,)
            One count for each half.
        """
        bits = halves.astype(np.int64)
        shift = self.shift[rate]
        column = self.start[rate] + (bits >> shift)
        below = (bits & ((1 << shift) - 1)) < self.threshold[column]
        return np.where(below, self.own[column], self.alias[column])


def poisson(rates: npt.NDArray[np.float64]) -> Poisson:
    """Alias tables of Poisson laws.

    The probability of each count is that of the law to within 2**-16: the cumulated law, times
    65,536 and rounded, says how many halves give at most that count.

    Parameters
    ----------
    rates : float64 array, shape (n_rates,)
        Expected counts, in [0, 1000].

    Returns
    -------
    Poisson
        The tables, in the order of the rates.
    """
    tables = [_alias_table(float(rate)) for rate in rates]
    columns = np.array([table.shape[1] for table in tables])
    threshold, own, alias = np.concatenate(tables, axis=1)
    return Poisson(
        start=np.cumsum(columns) - columns,
        shift=np.array([(HALVES // n).bit_length() - 1 for n in columns.tolist()]),
        threshold=threshold,
        own=own,
        alias=alias,
    )


@lru_cache(maxsize=4096)
def _alias_table(rate: float) -> npt.NDArray[np.int64]:
    """Threshold, own count and alias of each column of one rate, int64 of shape (3, columns)."""
    from scipy.special import pdtr

    # The law of the largest rate ends far below rate + 10 standard deviations + 20.
    cumulated = pdtr(np.arange(int(rate + 10 * math.sqrt(rate)) + 20), rate)
    halves = np.diff(np.floor(cumulated * HALVES + 0.5).astype(np.int64), prepend=0)
    possible = np.flatnonzero(halves)
    first, last = int(possible[0]), int(possible[-1])
    columns = max(2, 1 << (last - first).bit_length())  # a threshold then fits in 16 bits
    capacity = HALVES // columns

    left = [*halves[first : last + 1].tolist(), *[0] * (columns - (last - first + 1))]
    threshold, alias = [capacity] * columns, list(range(columns))
    small = [i for i in range(columns) if left[i] < capacity]
    large = [i for i in range(columns) if left[i] > capacity]
    while small:
        poor, rich = small.pop(), large[-1]
        threshold[poor], alias[poor] = left[poor], rich
        left[rich] -= capacity - left[poor]
        if left[rich] <= capacity:
            large.pop()
        if left[rich] < capacity:
            small.append(rich)
    return np.array([threshold, np.arange(columns) + first, np.array(alias) + first])
