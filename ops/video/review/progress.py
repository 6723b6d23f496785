"""How far a review is: per pass and reviewer, and what is decided."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ops.video.review.decisions import Decisions


class StageProgress(BaseModel):
    """One pass of a review.

    Attributes
    ----------
    total : int
        How many there are to judge; of the joint review, how many have been contested.
    states : dict of str to int
        How many are in each state.
    done : dict of str to int
        How many each reviewer has judged, by name.
    """

    model_config = ConfigDict(frozen=True)

    total: int
    states: dict[str, int]
    done: dict[str, int]


class Progress(BaseModel):
    """The three passes of a review."""

    model_config = ConfigDict(frozen=True)

    anchors: StageProgress
    pairs: StageProgress
    joint: StageProgress


def progress_of(decisions: Decisions, n_anchors: int, n_pairs: int) -> Progress:
    """How far a review is."""
    votes = decisions.votes
    anchors, pairs = decisions.anchor_states(), decisions.pair_states()
    settled, open_ = decisions.n_settled(), anchors["contested"] + pairs["contested"]
    return Progress(
        anchors=StageProgress(total=n_anchors, states={**anchors}, done=votes.done("anchor")),
        pairs=StageProgress(total=n_pairs, states={**pairs}, done=votes.done("pair")),
        joint=StageProgress(
            total=settled + open_,
            states={"settled": settled, "contested": open_},
            done=votes.done("joint"),
        ),
    )
