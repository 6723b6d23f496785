"""Which of all events count: the newest of each reviewer on each subject that was not withdrawn.

What counts depends on the set of events alone, not on the order in which they become known: two
processes that have seen the same events agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal

from ops.video.review.events import Event

Pass = Literal["anchor", "pair", "joint"]
PASSES: tuple[Pass, ...] = ("anchor", "pair", "joint")
# What is voted on, and the second look at a pair, which decides nothing.
Voted = Literal["anchor", "pair", "joint", "repeat"]
_VOTED: tuple[Voted, ...] = (*PASSES, "repeat")

_NONE: dict[str, Event] = {}


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
        self._counting: dict[Voted, dict[str, dict[str, Event]]] = {kind: {} for kind in _VOTED}
        # Those that a newer one replaced or that were withdrawn; few, so that they are kept apart.
        self._idle: dict[Voted, dict[str, list[Event]]] = {kind: {} for kind in _VOTED}
        # Who withdrew an event; only the reviewer and whoever entered it can.
        self._withdrawals: dict[str, set[str]] = {}
        self._done: dict[Voted, Counter[str]] = {kind: Counter() for kind in _VOTED}

    def add(self, events: Iterable[Event]) -> set[str]:
        """Take up events; those already known change nothing.

        Returns
        -------
        set of str
            Frame sets and sample keys about which something else may follow now.
        """
        touched: set[str] = set()
        rest = iter(events)
        for event in rest:
            known = self.events.get(event.id)
            if known is None:
                self._take(event, touched)
            elif _precedence(event) < _precedence(known):
                # Two events with one id, which only a forged file has: the smaller stands.
                return self._replace(event, rest)
        return touched

    def counting(self, kind: Voted, subject: str) -> dict[str, Event]:
        """The vote of each reviewer that counts in a pass; not to be changed."""
        return self._counting[kind].get(subject, _NONE)

    def of(self, reviewer: str, kind: Voted) -> list[Event]:
        """The votes of one reviewer that count in a pass, in no order."""
        votes = self._counting[kind].values()
        return [by_name[reviewer] for by_name in votes if reviewer in by_name]

    def done(self, kind: Voted) -> dict[str, int]:
        """Number of subjects each reviewer has a counting vote on, by reviewer."""
        return {name: n for name, n in sorted(self._done[kind].items()) if n}

    def n_done(self, kind: Voted, reviewer: str) -> int:
        """Number of subjects a reviewer has a counting vote on."""
        return self._done[kind][reviewer]

    def voters(self, kind: Voted) -> frozenset[str]:
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
            event
            for event in self.events.values()
            if event.kind != "undo"
            and event.entered_by == reviewer
            and self._is_known(event)
            and not self.is_withdrawn(event)
        ]
        if not standing:
            return []
        newest = max(standing, key=_age)
        return [
            event
            for event in standing
            if (event.at, event.kind, event.subject) == (newest.at, newest.kind, newest.subject)
        ]

    def _take(self, event: Event, touched: set[str]) -> None:
        kind, subject = event.kind, event.subject
        self.events[event.id] = event
        if kind == "undo":
            self._withdrawals.setdefault(subject, set()).add(event.reviewer)
            self.generation += 1
            target = self.events.get(subject)
            if target is not None and target.kind != "undo" and self._is_known(target):
                self._count_again(target.kind, target.subject)
                touched.add(target.subject)
        elif self._is_known(event):
            touched.add(subject)
            votes, reviewer = self._counting[kind], event.reviewer
            before = votes.get(subject, _NONE)
            if reviewer in before or event.id in self._withdrawals:
                self._count(kind, event)
            else:
                votes[subject] = {**before, reviewer: event}
                self._done[kind][reviewer] += 1
        else:
            self.n_unknown += 1

    def _is_known(self, event: Event) -> bool:
        kind, subject = event.kind, event.subject
        if kind != "joint":
            return subject in (self._anchors if kind == "anchor" else self._pairs)
        # An anchor is not similar to anything, and a pair not usable.
        about_pair = event.verdict in ("similar", "dissimilar", "wrong_label")
        about_anchor = event.verdict in ("usable", "bad")
        return (subject in self._pairs and not about_anchor) or (
            subject in self._anchors and not about_pair
        )

    def _count(self, kind: Voted, event: Event) -> None:
        subject, reviewer = event.subject, event.reviewer
        counting = self._counting[kind]
        votes = counting.get(subject, _NONE)
        idle: Event | None = None
        if event.id in self._withdrawals and self.is_withdrawn(event):
            idle = event
        elif reviewer in votes:
            idle = min(event, votes[reviewer], key=_age)
        else:
            self._done[kind][reviewer] += 1
        if idle is not None:
            self._idle[kind].setdefault(subject, []).append(idle)
        if idle is not event:
            # Never changed, but replaced: whoever goes through the votes is not disturbed.
            counting[subject] = {**votes, reviewer: event}

    def _count_again(self, kind: Voted, subject: str) -> None:
        votes = self._counting[kind].pop(subject, _NONE)
        self._done[kind].subtract(votes.keys())
        for event in (*votes.values(), *self._idle[kind].pop(subject, ())):
            self._count(kind, event)

    def _replace(self, event: Event, rest: Iterable[Event]) -> set[str]:
        known = {**self.events, event.id: event}
        before = {subject for votes in self._counting.values() for subject in votes}
        self._clear()
        self.generation += 1
        return before | self.add([*known.values(), *rest])


def _age(event: Event) -> tuple[str, str]:
    return (event.at, event.id)


def _precedence(event: Event) -> tuple[str, str]:
    return (event.at, event.model_dump_json())
