"""How much of what was mined stands after the review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from ops.video.review.reviewed import Reviewed


class Funnel(BaseModel):
    """The rows of a table of dataset statistics (Shankar, Dave et al., Table 1).

    A pair counts as reviewed if somebody judged it or its anchor is bad, and as accepted if its
    anchor is, too; an anchor of which no neighbour is accepted stays a set of its own.

    Attributes
    ----------
    anchors_mined, anchors_reviewed, anchors_accepted : int
    pairs_mined, pairs_reviewed, pairs_accepted : int
    anchors_relabelled : int
        Accepted anchors to which labels were added.
    labels_added : int
        To these in all.
    anchors_undecided, pairs_undecided : int
        Pending or contested; a pair also while its anchor is.
    """

    model_config = ConfigDict(frozen=True)

    anchors_mined: int
    anchors_reviewed: int
    anchors_accepted: int
    pairs_mined: int
    pairs_reviewed: int
    pairs_accepted: int
    anchors_relabelled: int
    labels_added: int
    anchors_undecided: int
    pairs_undecided: int

    def rows(self) -> list[tuple[str, int, int, float]]:
        """Name, reviewed, accepted and the share accepted in [0, 1], a row for anchors and pairs.

        The third row is the accepted anchors, those of them with added labels, and their share.
        """
        return [
            ("anchors", *_share(self.anchors_reviewed, self.anchors_accepted)),
            ("pairs", *_share(self.pairs_reviewed, self.pairs_accepted)),
            ("labels updated", *_share(self.anchors_accepted, self.anchors_relabelled)),
        ]


def funnel(review: Reviewed) -> Funnel:
    """Count what was mined, reviewed and accepted."""
    decisions = review.decisions()
    anchors = [decisions.anchor(item.frame_set) for item in review.anchors]
    states = [decisions.pair(item.sample_key).state for item in review.pairs]
    stands = [decisions.stands(item.sample_key) for item in review.pairs]
    relabelled = [decision for decision in anchors if decision.labels]
    return Funnel(
        anchors_mined=len(anchors),
        anchors_reviewed=sum(decision.state != "pending" for decision in anchors),
        anchors_accepted=sum(decision.state == "usable" for decision in anchors),
        pairs_mined=len(states),
        pairs_reviewed=sum(state != "pending" for state in states),
        pairs_accepted=stands.count(True),
        anchors_relabelled=len(relabelled),
        labels_added=sum(len(decision.labels) for decision in relabelled),
        anchors_undecided=sum(decision.state in ("pending", "contested") for decision in anchors),
        pairs_undecided=stands.count(None),
    )


def _share(of: int, n: int) -> tuple[int, int, float]:
    return of, n, n / of if of else 0.0
