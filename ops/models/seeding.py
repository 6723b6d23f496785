"""Training in one stream of chance and one order of additions, so that it can be repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """One thread, and torch's chance from one seed; both are as before afterwards.

    Parameters
    ----------
    seed : int
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def keyed(*parts: object) -> str:
    """A place in an order that depends on nothing but what is put in order.

    Parameters
    ----------
    *parts : object
        What is drawn for: seed, epoch, key.

    Returns
    -------
    str
        64 hex digits; to sort by them is to shuffle.
    """
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
