"""Hidden repeats: some pairs come to the same reviewer again, to see how steady a verdict is.

A repeat looks like any other pair and is an event of its own kind. It is no second vote, and the
first verdict stays what it is.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from ops.video.review.decisions import Decisions
from ops.video.review.events import Event

# Share of the pairs that is shown twice, unless told otherwise.
SHARE = 0.05
# A verdict that is still remembered says nothing: so many others are judged in between.
APART = 30
# A page holds some items ahead; repeats are put behind those, so that they do not come in a row.
_FIRST = 20


def is_repeated(mined_version: str, reviewer: str, sample_key: str, share: float) -> bool:
    """Whether a pair is to come to a reviewer twice: a keyed draw, another for each reviewer."""
    key = "\0".join(("repeat", mined_version, reviewer, sample_key))
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) < share * 2**64


class Repeats:
    """What each reviewer is to see again.

    Parameters
    ----------
    sample_keys : iterable of str
        Of all pairs.
    mined_version : str
        What the draw is keyed by, beside reviewer and pair.
    decisions : Decisions
        Kept up to date by its owner.
    """

    def __init__(
        self, sample_keys: Iterable[str], mined_version: str, decisions: Decisions
    ) -> None:
        self._keys = tuple(sample_keys)
        self._mined_version = mined_version
        self._decisions = decisions
        self._drawn: dict[tuple[str, float], tuple[str, ...]] = {}

    def waiting(self, name: str, share: float, left: Sequence[str]) -> tuple[list[str], int]:
        """What a reviewer is to see again.

        Parameters
        ----------
        name : str
        share : float
            Of the pairs, in [0, 1].
        left : sequence of str
            Pairs that the reviewer has not judged yet, the next first.

        Returns
        -------
        now : list of str
            Sample keys of pairs that were judged long enough ago, the oldest first.
        in_all : int
            These, and those that will come when more is judged.
        """
        votes = self._decisions.votes
        coming = set(left[: max(0, len(left) - APART)])
        first: dict[str, str] = {}
        in_all = 0
        for key in self._of(name, share):
            if key in coming:
                in_all += 1
            elif (
                (vote := votes.counting("pair", key).get(name)) is not None
                and name not in votes.counting("repeat", key)
                and self._decisions.is_worth_judging(key)
            ):
                first[key] = vote.at
        if not first:
            return [], in_all
        # Repeats among them are not counted, so that how many there are in all never changes.
        times = sorted(vote.at for vote in votes.of(name, "pair"))
        since = {key: len(times) - bisect_right(times, at) for key, at in first.items()}
        now = sorted(
            (key for key, n in since.items() if n >= APART), key=lambda key: (first[key], key)
        )
        return now, in_all + sum(n + len(left) >= APART for n in since.values())

    def _of(self, name: str, share: float) -> tuple[str, ...]:
        if (name, share) not in self._drawn:
            self._drawn[name, share] = tuple(
                key for key in self._keys if is_repeated(self._mined_version, name, key, share)
            )
        return self._drawn[name, share]


def mixed(
    left: Sequence[str], again: Sequence[str], share: float, set_of: Callable[[str], str]
) -> list[tuple[str, bool]]:
    """Put repeats among the pairs that are left, now and then, never beside one of their set.

    Parameters
    ----------
    left, again : sequence of str
        Sample keys; all of `left` stay in their order.
    share : float
        The larger, the closer repeats follow each other.
    set_of : callable
        Frame set of a pair.

    Returns
    -------
    list of tuple
        Sample key, and whether it is a repeat.
    """
    found = [(key, False) for key in left]
    every = max(2, round(0.5 / share)) if share else 0
    at = min(_FIRST, len(found))
    for key in again:
        while at < len(found) and set_of(key) in {set_of(one) for one, _ in found[at - 1 : at + 1]}:
            at += 1
        found.insert(at, (key, True))
        at = min(at + every, len(found))
    return found


def first_and_again(reviewer: str, decisions: Decisions) -> list[tuple[Event, Event]]:
    """A reviewer's first verdict and the repeated one, of every pair that was shown twice.

    Left out is what the reviewer judged anew after the repeat: that first verdict is gone.
    """
    found = []
    for again in decisions.votes.of(reviewer, "repeat"):
        first = decisions.votes.counting("pair", again.subject).get(reviewer)
        if first is not None and first.at < again.at:
            found.append((first, again))
    return found
