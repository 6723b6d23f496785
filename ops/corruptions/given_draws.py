"""Which draws the arguments ``rng`` and ``key`` of a public function stand for.

Here: that it is exactly one of them, where anything is drawn. The draws themselves are in
:mod:`ops.corruptions.draws` and :mod:`ops.corruptions.keyed`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ops.corruptions.draws import Draws, Replay
from ops.corruptions.keyed import Key, Keyed, given_key
from ops.errors import ShiftlakeError


def replay(name: str, rng: object) -> Draws:
    """The draws of NumPy's legacy generator, whatever they are for."""
    if not isinstance(rng, np.random.RandomState):
        raise ShiftlakeError(
            "Only NumPy's legacy generator draws what the official code drew.",
            expected="a numpy.random.RandomState",
            found=type(rng).__name__,
            where="rng",
            remedy="Give numpy.random.RandomState(seed), or a key.",
        )
    return Replay(rng)


def given_draws(
    name: str,
    severity: int,
    rng: object,
    key: object,
    *,
    dataset: str,
    drawing: bool,
    replayed: Callable[[str, object], Draws] = replay,
) -> Draws:
    """The draws of a generator that is replayed, or of a key.

    Parameters
    ----------
    name : str
        Of the corruption, perturbation or distortion.
    severity : int
        Its severity, difficulty or level.
    rng : generator or None
        As a caller gave it.
    key : Key, str or None
        As a caller gave it.
    dataset : str
        The family of a key that names none.
    drawing : bool
        Whether random numbers are drawn at all; without any, neither is needed.
    replayed : callable
        From the name and the generator to its draws.

    Returns
    -------
    Draws
        To be asked for in the official order.

    Raises
    ------
    ShiftlakeError
        If both are given, or neither where one is needed, or one is of another kind.
    """
    if (rng is not None and key is not None) or (drawing and rng is None and key is None):
        raise ShiftlakeError(
            f"It is not clear where the random numbers of {name} come from.",
            expected="either rng= or key=",
            found="neither" if rng is None else "both",
            where="rng, key",
            remedy="Give key=<the image's key> for draws that never change, "
            "or rng= to replay a generator.",
        )
    if rng is not None:
        return replayed(name, rng)
    # What draws nothing gets a source all the same: it is never asked.
    found = Key(name, dataset=dataset) if key is None else given_key(key, dataset)
    return Keyed(found, name, severity)
