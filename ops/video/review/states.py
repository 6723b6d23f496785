"""The states an anchor and a pair can be in; how they come about is in ``decisions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ops.video.review.events import Reason
from ops.video.review.items import AnchorItem, PairItem

AnchorState = Literal["pending", "usable", "bad", "contested"]
PairState = Literal["pending", "accepted", "contested", "rejected"]


@dataclass(frozen=True, slots=True)
class AnchorDecision:
    """What is decided about an anchor.

    Attributes
    ----------
    state : {"pending", "usable", "bad", "contested"}
    labels : tuple of int
        Added ones, ascending; only of a usable anchor.
    joint : bool
        Whether the joint review decided it, or is to.
    """

    state: AnchorState = "pending"
    labels: tuple[int, ...] = ()
    joint: bool = False


@dataclass(frozen=True, slots=True)
class PairDecision:
    """What is decided about a pair.

    Attributes
    ----------
    state : {"pending", "accepted", "contested", "rejected"}
    why : str
        similar, dissimilar, wrong_label, unsure or bad_anchor; empty while pending. Of several
        objections the most frequent, of equally frequent ones the first in this order.
    reasons : tuple of str
        All reasons given with the verdict dissimilar that count.
    joint : bool
        Whether the joint review decided it, or is to.
    """

    state: PairState = "pending"
    why: str = ""
    reasons: tuple[Reason, ...] = ()
    joint: bool = False


PENDING_ANCHOR = AnchorDecision()
PENDING_PAIR = PairDecision()
SIMILAR = PairDecision("accepted", "similar")
# By the joint review, although not everybody said so before.
SETTLED = PairDecision("accepted", "similar", (), True)
BAD_ANCHOR = PairDecision("rejected", "bad_anchor")


def labels_of(item: AnchorItem | PairItem, decision: AnchorDecision) -> tuple[int, ...]:
    """Labels of a frame after the review: its own, and those added to its anchor.

    A pair stands if both frames show the same; a class missed at the anchor was missed at all.
    """
    return tuple(sorted({*item.labels, *decision.labels}))
