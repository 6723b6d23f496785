"""What follows from the votes: the state of every anchor and of every pair.

An anchor is *pending* until somebody judges it, *usable* or *bad* if all who judged it say so, else
*contested*. A pair is *accepted* if all who judged it call it similar; if somebody called it
dissimilar, wrongly labelled or was unsure, it is *contested* until the joint review settles it.
Joint review settles with a strict majority of the reviewers, those of the pass before and those who
vote jointly: more than half accept it, or it is rejected; with four reviewers two to two is a
rejection. It is settled once no vote that is still missing could change it. All pairs of a bad
anchor are *rejected*, which is derived, so that it ends when the anchor is no longer bad.

Labels added to an anchor are those that anyone added whose verdict *usable* counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import get_args

from ops.video.review.events import REASONS, Event, Reason
from ops.video.review.items import AnchorItem, PairItem
from ops.video.review.states import (
    BAD_ANCHOR,
    PENDING_ANCHOR,
    PENDING_PAIR,
    SETTLED,
    SIMILAR,
    AnchorDecision,
    AnchorState,
    PairDecision,
    PairState,
)
from ops.video.review.votes import Votes


class Decisions:
    """The decisions that follow from all events known so far; kept up to date by :meth:`add`.

    Parameters
    ----------
    anchors : sequence of AnchorItem
    pairs : sequence of PairItem

    Attributes
    ----------
    votes : Votes
        What counts.
    """

    def __init__(self, anchors: Sequence[AnchorItem], pairs: Sequence[PairItem]) -> None:
        self._anchors: dict[str, AnchorDecision] = {}
        self._pairs: dict[str, PairDecision] = {}
        self._set_of = {item.sample_key: item.frame_set for item in pairs}
        self._pairs_of: dict[str, list[str]] = {item.frame_set: [] for item in anchors}
        for item in pairs:
            self._pairs_of[item.frame_set].append(item.sample_key)
        self.votes = Votes(self._pairs_of, self._set_of)
        self._disputed: set[str] = set()
        self._panels = (self.votes.voters("anchor"), self.votes.voters("pair"))

    def add(self, events: Iterable[Event]) -> None:
        """Take up events; at a cost that does not grow with how many were known."""
        touched = self.votes.add(events)
        panels = (self.votes.voters("anchor"), self.votes.voters("pair"))
        if panels != self._panels:
            # One reviewer more or less changes what half of them is, where there is a joint vote.
            touched |= {key for key in self._disputed if self.votes.counting("joint", key)}
            self._panels = panels
        pairs: set[str] = set()
        for subject in touched:
            if subject in self._set_of:
                pairs.add(subject)
                continue
            before = self.anchor(subject).state
            self._anchors[subject] = self._judge_anchor(subject)
            if "bad" in (before, self._anchors[subject].state):
                pairs.update(self._pairs_of[subject])
        for key in pairs:
            self._pairs[key] = self._judge_pair(key)

    def anchor(self, frame_set: str) -> AnchorDecision:
        """What is decided about an anchor."""
        return self._anchors.get(frame_set, PENDING_ANCHOR)

    def pair(self, sample_key: str) -> PairDecision:
        """What is decided about a pair, named by its neighbour."""
        return self._pairs.get(sample_key, PENDING_PAIR)

    def stands(self, sample_key: str) -> bool | None:
        """Whether a pair is in the reviewed set: None where it or its anchor is undecided."""
        pair, anchor = self.pair(sample_key), self.anchor(self._set_of[sample_key])
        if pair.state == "rejected":
            return False
        return True if (pair.state, anchor.state) == ("accepted", "usable") else None

    def is_worth_judging(self, sample_key: str) -> bool:
        """Whether the anchor of a pair is neither bad nor contested."""
        return self.anchor(self._set_of[sample_key]).state not in ("bad", "contested")

    def contested(self) -> list[str]:
        """Frame sets, then sample keys, that the joint review has to settle, in order."""
        open_ = [subject for subject in self._disputed if self._is_contested(subject)]
        return sorted(open_, key=lambda subject: (subject in self._set_of, subject))

    def n_settled(self) -> int:
        """How many the joint review has settled."""
        return sum(
            (self.pair(subject) if subject in self._set_of else self.anchor(subject)).joint
            and not self._is_contested(subject)
            for subject in self._disputed
        )

    def anchor_states(self) -> dict[AnchorState, int]:
        """Number of anchors in each state."""
        found = Counter(decision.state for decision in self._anchors.values())
        found["pending"] += len(self._pairs_of) - len(self._anchors)
        return {state: found[state] for state in get_args(AnchorState)}

    def pair_states(self) -> dict[PairState, int]:
        """Number of pairs in each state."""
        found = Counter(decision.state for decision in self._pairs.values())
        found["pending"] += len(self._set_of) - len(self._pairs)
        return {state: found[state] for state in get_args(PairState)}

    def _is_contested(self, subject: str) -> bool:
        if subject in self._set_of:
            return self.pair(subject).state == "contested"
        return self.anchor(subject).state == "contested"

    def _judge_anchor(self, frame_set: str) -> AnchorDecision:
        votes = self.votes.counting("anchor", frame_set)
        verdicts = {vote.verdict for vote in votes.values()}
        agreed = verdicts in ({"usable"}, {"bad"})
        self._note_dispute(frame_set, bool(votes) and not agreed)
        if not votes:
            return PENDING_ANCHOR
        if agreed:
            usable: bool | None = verdicts == {"usable"}
        else:
            usable = self._majority(frame_set, "usable", self._panels[0])
        state: AnchorState = "contested" if usable is None else "usable" if usable else "bad"
        joint = self.votes.counting("joint", frame_set)
        added = {
            label
            for vote in (*votes.values(), *joint.values())
            if vote.verdict == "usable"
            for label in vote.labels
        }
        return AnchorDecision(state, tuple(sorted(added)) if usable else (), not agreed)

    def _judge_pair(self, key: str) -> PairDecision:
        votes = self.votes.counting("pair", key)
        objections = [vote for vote in votes.values() if vote.verdict != "similar"]
        self._note_dispute(key, bool(objections))
        if self.anchor(self._set_of[key]).state == "bad":
            return BAD_ANCHOR
        if not votes:
            return PENDING_PAIR
        if not objections:
            return SIMILAR
        accepted = None
        if joint := self.votes.counting("joint", key):
            accepted = self._majority(key, "similar", self._panels[1])
            if accepted:
                return SETTLED
            jointly = [vote for vote in joint.values() if vote.verdict != "similar"]
            objections = jointly if jointly and accepted is False else [*jointly, *objections]
        return _objected(
            "contested" if accepted is None else "rejected",
            tuple([str(vote.verdict) for vote in objections]),
            tuple([reason for vote in objections for reason in vote.reasons]),
        )

    def _majority(self, subject: str, verdict: str, panel: frozenset[str]) -> bool | None:
        """Whether a strict majority votes `verdict`; None while missing votes could decide."""
        joint = self.votes.counting("joint", subject)
        if not joint:
            return None
        n = len(panel | joint.keys())
        for_ = sum(vote.verdict == verdict for vote in joint.values())
        if 2 * for_ > n:
            return True
        return None if 2 * (for_ + n - len(joint)) > n else False

    def _note_dispute(self, subject: str, disputed: bool) -> None:
        if disputed:
            self._disputed.add(subject)
        else:
            self._disputed.discard(subject)


def decide(
    anchors: Sequence[AnchorItem], pairs: Sequence[PairItem], events: Iterable[Event]
) -> Decisions:
    """Decisions that follow from events: a function of the set of them, whatever their order."""
    decisions = Decisions(anchors, pairs)
    decisions.add(events)
    return decisions


@lru_cache(maxsize=4_096)
def _objected(
    state: PairState, verdicts: tuple[str, ...], given: tuple[Reason, ...]
) -> PairDecision:
    """A pair that does not stand, or not yet; few different ones, however many pairs there are."""
    order = ("dissimilar", "wrong_label", "unsure")
    why = max(order, key=lambda verdict: (verdicts.count(verdict), -order.index(verdict)))
    return PairDecision(state, why, tuple(reason for reason in REASONS if reason in given), True)
