"""Poisson counts as NumPy's legacy generator draws them, with what a rate needs computed once.

NumPy computes exponentials, logarithms and roots of the rate for every sample; an image of bytes
has 256 rates at most. Rates below 10 multiply uniform numbers until the product falls to exp(-rate)
(Knuth); the others take Hoermann's transformed rejection with squeeze, PTRS ("The transformed
rejection method for generating Poisson random variables", Insurance: Mathematics and Economics
1993). Both use up the generator's numbers as NumPy does, so that counts and state are its own.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.mersenne_twister import PER_BLOCK, doubles, twist

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_REJECTION = 10.0
# Rates that are told apart, in a table with twice the room; what has more is left to NumPy.
_RATES = 512
_SLOTS = 2 * _RATES
_HIGHEST = 1e6


def poisson(rng: np.random.RandomState, rate: Doubles) -> Integers:
    """``rng.poisson(rate)``, and the generator is left as that leaves it.

    Parameters
    ----------
    rng : numpy.random.RandomState
        Advanced.
    rate : float64 array
        Expected counts; faster than NumPy's own where no more than 512 differ.

    Returns
    -------
    int64 array
        Of the rates' shape.
    """
    state = rng.get_state(legacy=False)
    if state["bit_generator"] == "MT19937":
        counts = np.empty(rate.shape, np.int64)
        place = state["state"]
        position = _poisson(
            place["key"],
            place["pos"],
            np.ascontiguousarray(rate).reshape(-1),
            _log_factorials(),
            counts.reshape(-1),
        )
        if position >= 0:
            place["pos"] = position
            rng.set_state(state)
            return counts
    return np.asarray(rng.poisson(rate), np.int64)


@lru_cache(maxsize=1)
def _log_factorials() -> Doubles:
    """Logarithm of k! for the first k."""
    return np.array([math.lgamma(k + 1.0) for k in range(1024)])


@compiled()
def _poisson(
    key: npt.NDArray[np.uint32],
    position: int,
    rate: Doubles,
    log_factorials: Doubles,
    counts: Integers,
) -> int:
    """Draw a count for each rate; return the new position in the key, or -1 to give up."""
    uniform = np.empty(PER_BLOCK)
    start, at = position, 0
    have = doubles(key, key[0], start, uniform)
    known, numbers = np.zeros(_SLOTS), np.empty((_SLOTS, 5))
    rates = 0
    for i in range(len(rate)):
        mean = rate[i]
        if not (0.0 <= mean <= _HIGHEST) or rates > _RATES:
            return -1
        count = 0
        if mean == 0.0:
            counts[i] = count
            continue
        slot = np.uint64(mean * 40503.0) % np.uint64(_SLOTS)
        while known[slot] != mean:
            if known[slot] == 0.0:
                known[slot] = mean
                _prepare(mean, numbers[slot])
                rates += 1
            else:
                slot = (slot + np.uint64(1)) % np.uint64(_SLOTS)
        if mean < _REJECTION:
            least, product = numbers[slot, 0], 1.0
            while True:
                if at == have:
                    start, at, have = _refill(key, uniform, start)
                product *= uniform[np.uint64(at)]
                at += 1
                if product <= least:
                    break
                count += 1
        else:
            slope, spread = numbers[slot, 0], numbers[slot, 1]
            while True:
                if at == have:
                    start, at, have = _refill(key, uniform, start)
                u = uniform[np.uint64(at)] - 0.5
                at += 1
                if at == have:
                    start, at, have = _refill(key, uniform, start)
                v = uniform[np.uint64(at)]
                at += 1
                edge = 0.5 - abs(u)
                count = math.floor((2 * slope / edge + spread) * u + mean + 0.43)
                if edge >= 0.07 and v <= numbers[slot, 2]:
                    break
                if count < 0 or (edge < 0.013 and v > edge):
                    continue
                known_factorial = count < len(log_factorials)
                factorial = log_factorials[count] if known_factorial else math.lgamma(count + 1.0)
                hat = math.log(v) + numbers[slot, 3] - math.log(slope / (edge * edge) + spread)
                if hat <= count * numbers[slot, 4] - mean - factorial:
                    break
        counts[i] = count
    return start + 2 * at


@compiled()
def _prepare(mean: float, numbers: Doubles) -> None:
    """What every draw of a rate needs: the least product, or the constants of PTRS."""
    if mean < _REJECTION:
        numbers[0] = math.exp(-mean)
        return
    spread = 0.931 + 2.53 * math.sqrt(mean)
    numbers[0] = -0.059 + 0.02483 * spread
    numbers[1] = spread
    numbers[2] = 0.9277 - 3.6224 / (spread - 2)
    numbers[3] = math.log(1.1239 + 1.1328 / (spread - 3.4))
    numbers[4] = math.log(mean)


@compiled()
def _refill(key: npt.NDArray[np.uint32], uniform: Doubles, start: int) -> tuple[int, int, int]:
    """The next block's numbers: the word they start with, the first one's place, how many."""
    before = key[-1]
    twist(key)
    start = -(start & 1)
    return start, 0, doubles(key, before, start, uniform)
