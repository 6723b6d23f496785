"""Where random numbers come from: a generator that is replayed, or a key.

A kernel asks for its draws in the order in which the official implementation drew them and names
the purpose of each. A replay takes them from the generator in that order and ignores the purpose;
a keyed source makes each from its key and purpose alone, in whatever order it is asked.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]
Shape = tuple[int, ...]


class Draws(Protocol):
    """Random numbers for one corruption of one image at one severity."""

    def normal(self, purpose: str, loc: float, scale: float, shape: Shape) -> Doubles:
        """Normal numbers, float64 of the given shape."""

    def uniform(self, purpose: str, low: float, high: float, shape: Shape) -> Doubles:
        """Uniform numbers in [low, high), float64 of the given shape; ``()`` gives one number."""

    def poisson(self, purpose: str, rate: Doubles) -> Integers:
        """One Poisson count for each rate."""

    def integers(self, purpose: str, low: int, high: int, shape: Shape) -> Integers:
        """Integers of [low, high), each equally likely; ``()`` gives one number."""

    def impulses(self, purpose: str, amount: float, shape: Shape) -> Signs:
        """+1 (salt) and -1 (pepper) in equal parts of ``amount`` together, 0 elsewhere."""


class Replay:
    """The draws of NumPy's legacy generator (MT19937), in the order they are asked for.

    Parameters
    ----------
    rng : numpy.random.RandomState
        Advanced by every draw, as ``numpy.random.*`` advances the global one.
    """

    def __init__(self, rng: np.random.RandomState) -> None:
        self.rng = rng

    def normal(self, purpose: str, loc: float, scale: float, shape: Shape) -> Doubles:
        """``rng.normal(loc, scale, shape)``."""
        return np.asarray(self.rng.normal(loc, scale, shape))

    def uniform(self, purpose: str, low: float, high: float, shape: Shape) -> Doubles:
        """``rng.uniform(low, high, shape)``."""
        return np.asarray(self.rng.uniform(low, high, shape or None))

    def poisson(self, purpose: str, rate: Doubles) -> Integers:
        """``rng.poisson(rate)``."""
        from ops.corruptions import replayed_poisson  # compiled; other draws do not need it

        return replayed_poisson.poisson(self.rng, rate)

    def integers(self, purpose: str, low: int, high: int, shape: Shape) -> Integers:
        """``rng.randint(low, high, shape)``."""
        return np.asarray(self.rng.randint(low, high, shape or None), np.int64)

    def impulses(self, purpose: str, amount: float, shape: Shape) -> Signs:
        """Which samples flip, then which of them are salt: two uniform numbers for each sample.

        That is what scikit-image drew from NumPy's global generator in the years of ImageNet-C
        (0.13 to 0.18, by ``numpy.random.choice``); since 0.19 it draws from a generator of its
        own, by the same two comparisons but ``<=`` where this is ``<``.
        """
        flipped = self.rng.random_sample(shape) < amount / (amount + (1 - amount))
        salt = self.rng.random_sample(shape) < 0.5
        return (2 * salt.view(np.int8) - 1) * flipped.view(np.int8)
