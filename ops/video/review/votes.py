"""Which of all events count: the newest of each reviewer on each subject that was not withdrawn.

What counts depends on the set of events alone, not on the order in which they become known: two
processes that have seen the same events agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from ops.video.review.events import Event

Pass = Literal["anchor", "pair", "joint"]
PASSES: tuple[Pass, ...] = ("anchor", "pair", "joint")

_NONE: dict[str, Event] = {}


class Ballot(NamedTuple):
    """What is voted on, and in which pass."""

    kind: Pass
    subject: str


class Votes:
    """The votes that count, kept up to date as events become known.

    Parameters
    ----------
    anchors, pairs : collection of str
        Frame sets and sample keys that can be voted on; events about others are counted only.

    Attributes
    ----------
    events : dict of str to Event
        All that are known, by id.
    n_unknown : int
        Those about a subject that is not of this mining.
    generation : int
        Grows whenever a vote may count no longer.
    """

    def __init__(self, anchors: Collection[str], pairs: Collection[str]) -> None:
        self._anchors, self._pairs = anchors, pairs
        self.generation = 0
        self._clear()

    def _clear(self) -> None:
        self.events: dict[str, Event] = {}
        self.n_unknown = 0
        self._cast: dict[Ballot, list[Event]] = {}
        self._counting: dict[Ballot, dict[str, Event]] = {}
        # Who withdrew an event; only the reviewer and whoever entered it can.
        self._withdrawals: dict[str, set[str]] = {}
        self._entered: dict[str, list[Event]] = {}
        self._done: dict[Pass, Counter[str]] = {kind: Counter() for kind in PASSES}

    def add(self, events: Iterable[Event]) -> set[Ballot]:
        """Take up events; those already known change nothing.

        Returns
        -------
        set of Ballot
            Those whose counting votes may be others now.
        """
        touched: set[Ballot] = set()
        for event in events:
            known = self.events.get(event.id)
            if known is not None:
                if _precedence(event) < _precedence(known):
                    # Two events with one id, which only a forged file has: the smaller stands.
                    return self._replace(event, events, touched)
                continue
            self._take(event, touched)
        self._count(touched)
        return touched

    def counting(self, kind: Pass, subject: str) -> dict[str, Event]:
        """The vote of each reviewer that counts in a pass; not to be changed."""
        return self._counting.get(Ballot(kind, subject), _NONE)

    def ballots(self, kind: Pass) -> list[str]:
        """Subjects with a vote in a pass, in no order."""
        return [ballot.subject for ballot in self._counting if ballot.kind == kind]

    def done(self, kind: Pass) -> dict[str, int]:
        """Number of subjects each reviewer has a counting vote on, by reviewer."""
        return {name: n for name, n in sorted(self._done[kind].items()) if n}

    def n_done(self, kind: Pass, reviewer: str) -> int:
        """Number of subjects a reviewer has a counting vote on."""
        return self._done[kind][reviewer]

    def voters(self, kind: Pass) -> frozenset[str]:
        """Reviewers with a counting vote in a pass."""
        return frozenset(name for name, n in self._done[kind].items() if n)

    def is_withdrawn(self, event: Event) -> bool:
        """Whether its reviewer, or whoever entered it, has withdrawn an event."""
        by = self._withdrawals.get(event.id)
        return by is not None and (event.reviewer in by or event.entered_by in by)

    def latest(self, reviewer: str) -> list[Event]:
        """The newest decision a person entered and did not withdraw.

        Returns
        -------
        list of Event
            Empty where there is none; several where joint votes were entered at once.
        """
        standing = [
            event for event in self._entered.get(reviewer, ()) if not self.is_withdrawn(event)
        ]
        if not standing:
            return []
        newest = max(standing, key=_age)
        return [
            event
            for event in standing
            if (event.at, event.kind, event.subject) == (newest.at, newest.kind, newest.subject)
        ]

    def _take(self, event: Event, touched: set[Ballot]) -> None:
        self.events[event.id] = event
        if event.kind == "undo":
            self._withdrawals.setdefault(event.subject, set()).add(event.reviewer)
            self.generation += 1
            target = self.events.get(event.subject)
            if target is not None and target.kind != "undo":
                touched.add(Ballot(target.kind, target.subject))
            return
        if not self._is_known(event):
            self.n_unknown += 1
            return
        ballot = Ballot(event.kind, event.subject)
        self._cast.setdefault(ballot, []).append(event)
        self._entered.setdefault(event.entered_by, []).append(event)
        touched.add(ballot)

    def _is_known(self, event: Event) -> bool:
        if event.kind == "joint":
            # An anchor is not similar to anything, and a pair not usable.
            about_pair = event.verdict in ("similar", "dissimilar", "wrong_label")
            about_anchor = event.verdict in ("usable", "bad")
            return (event.subject in self._pairs and not about_anchor) or (
                event.subject in self._anchors and not about_pair
            )
        return event.subject in (self._anchors if event.kind == "anchor" else self._pairs)

    def _count(self, ballots: Iterable[Ballot]) -> None:
        withdrawals = self._withdrawals
        for ballot in ballots:
            votes: dict[str, Event] = {}
            for event in self._cast.get(ballot, ()):
                if event.id in withdrawals and self.is_withdrawn(event):
                    continue
                other = votes.setdefault(event.reviewer, event)
                if other is not event and _age(event) > _age(other):
                    votes[event.reviewer] = event
            before = self._counting.get(ballot, _NONE)
            done = self._done[ballot.kind]
            for name in votes.keys() - before.keys():
                done[name] += 1
            for name in before.keys() - votes.keys():
                done[name] -= 1
            if votes:
                self._counting[ballot] = votes
            else:
                self._counting.pop(ballot, None)

    def _replace(self, event: Event, rest: Iterable[Event], touched: set[Ballot]) -> set[Ballot]:
        known = {**self.events, event.id: event}
        touched |= set(self._counting)
        self._clear()
        self.generation += 1
        touched |= self.add([*known.values(), *rest])
        return touched


def _age(event: Event) -> tuple[str, str]:
    return (event.at, event.id)


def _precedence(event: Event) -> tuple[str, str]:
    return (event.at, event.model_dump_json())
