"""Randomness keyed by what is made: the same picture whatever was drawn before it."""

from __future__ import annotations

import hashlib
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def generator(seed: int, *what: object) -> np.random.Generator:
    """Return the random stream of one thing.

    Parameters
    ----------
    seed : int
        Seed of the whole miniature.
    *what : object
        The name of the thing, for example benchmark, class and image number.

    Returns
    -------
    numpy.random.Generator
        A stream that depends on nothing but the arguments.
    """
    name = "\x1f".join([str(seed), *map(str, what)])
    return np.random.Generator(np.random.PCG64(int.from_bytes(_digest(name)[:16], "big")))


def shuffled(items: list[T], seed: int, *what: object) -> list[T]:
    """Return the items in an order that is fixed but not sorted."""
    return [items[i] for i in generator(seed, "order", *what).permutation(len(items))]


def hexname(seed: int, *what: object, length: int = 40) -> str:
    """Return a name of hexadecimal digits, as ImageNetV2 names its pictures."""
    return _digest("\x1f".join([str(seed), "name", *map(str, what)])).hex()[:length]


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
