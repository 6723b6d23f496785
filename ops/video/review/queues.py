"""What each reviewer still has to do, found without looking at everything for every decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ops.video.review.decisions import Decisions
from ops.video.review.items import AnchorItem, PairItem
from ops.video.review.order import Order, anchor_order, pair_order
from ops.video.review.votes import Pass

Stage = Literal["anchors", "pairs", "joint"]

# So many subjects a reviewer is done with are passed over before they are taken out of the list.
_PASSED_OVER = 200


@dataclass
class _Queue:
    """Subjects in a reviewer's order, less those that were done when it was made."""

    subjects: list[str]
    generation: int
    done: int


class Queues:
    """The queues of all reviewers of one review.

    Parameters
    ----------
    anchors : sequence of AnchorItem
    pairs : sequence of PairItem
    mined_version : str
    decisions : Decisions
        Kept up to date by its owner.
    """

    def __init__(
        self,
        anchors: Sequence[AnchorItem],
        pairs: Sequence[PairItem],
        mined_version: str,
        decisions: Decisions,
    ) -> None:
        self._anchors, self._pairs = anchors, pairs
        self._mined_version = mined_version
        self._decisions = decisions
        self._orders: dict[tuple[str, Pass, Order], list[str]] = {}
        self._queues: dict[tuple[str, Pass, Order], _Queue] = {}

    def waiting(
        self, name: str, stage: Stage, order: Order, raters: int | None, limit: int | None
    ) -> list[str]:
        """As :meth:`Review.queue`."""
        votes = self._decisions.votes
        if stage == "joint":
            contested = self._decisions.contested()
            return [key for key in contested if name not in votes.counting("joint", key)][:limit]
        kind: Pass = "anchor" if stage == "anchors" else "pair"
        found: list[str] = []
        for subject in self._queue(name, kind, order).subjects:
            if len(found) == limit:
                break
            counting = votes.counting(kind, subject)
            if name in counting or (raters is not None and len(counting) >= raters):
                continue
            if kind == "anchor" or self._decisions.is_worth_judging(subject):
                found.append(subject)
        return found

    def _queue(self, name: str, kind: Pass, order: Order) -> _Queue:
        votes, key = self._decisions.votes, (name, kind, order)
        queue, done = self._queues.get(key), votes.n_done(kind, name)
        if queue is None or queue.generation != votes.generation:
            # What was withdrawn is to be done again.
            if key not in self._orders:
                self._orders[key] = self._ordered(name, kind, order)
            subjects = self._orders[key]
        elif done - queue.done > _PASSED_OVER:
            subjects = queue.subjects
        else:
            return queue
        left = [subject for subject in subjects if name not in votes.counting(kind, subject)]
        self._queues[key] = _Queue(left, votes.generation, done)
        return self._queues[key]

    def _ordered(self, name: str, kind: Pass, order: Order) -> list[str]:
        if kind == "anchor":
            return anchor_order(self._anchors, self._mined_version, name, order)
        return pair_order(self._pairs, self._mined_version, name, order)
