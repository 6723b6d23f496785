"""How far a review is, for the overview: passes, reviewers, agreement, funnel."""

from __future__ import annotations

from threading import Lock
from typing import Any

from ops.video.review import (
    Agreement,
    Funnel,
    Review,
    SuspicionBand,
    agreement,
    by_suspicion,
    frozen_versions,
    funnel,
)
from pipelines.review_page.items import KINDS, STAGES

_lock = Lock()


def status_of(
    review: Review, reviewer: str | None, raters: int | None = None, repeats: float = 0.0
) -> dict[str, Any]:
    """What the overview shows.

    Parameters
    ----------
    review : Review
    reviewer : str or None
        Whose own progress is told beside everybody's.
    raters : int, optional
        How many reviewers look at each, where they share the work.
    repeats : float
        Share of the pairs that is shown twice, which is work to do, too.

    Returns
    -------
    dict
        ``mined_version``, ``n_anchors``, ``n_pairs``, ``passes`` (by name: ``total``, ``done`` and
        ``mine``), ``reviewers``, ``agreement``, ``suspicion``, ``funnel``, ``pending`` and
        ``frozen``.
    """
    progress = review.progress()
    agreed, flow, bands = _counted(review)
    states = {"anchors": progress.anchors, "pairs": progress.pairs, "joint": progress.joint}
    done = {
        "anchors": progress.anchors.total - progress.anchors.states.get("pending", 0),
        "pairs": progress.pairs.total - progress.pairs.states.get("pending", 0),
        "joint": progress.joint.states.get("settled", 0),
    }
    return {
        "mined_version": review.mined_version,
        "n_anchors": len(review.anchors),
        "n_pairs": len(review.pairs),
        "passes": {
            stage: {
                "total": states[stage].total,
                "done": done[stage],
                "mine": None
                if reviewer is None
                else _mine(review, stage, reviewer, raters, repeats),
            }
            for stage in STAGES
        },
        "reviewers": _reviewers(review, agreed),
        "agreement": [
            {
                "name": f"{kappa.stage}, {kappa.question}".replace("_", " "),
                "raters": kappa.raters,
                "n": kappa.items,
                "kappa": kappa.kappa,
            }
            for kappa in agreed.kappas
        ],
        "suspicion": [band.model_dump() for band in bands],
        "funnel": [
            {"name": name, "reviewed": reviewed, "accepted": accepted, "share": share}
            for name, reviewed, accepted, share in flow.rows()
        ],
        "pending": {"anchors": flow.anchors_undecided, "pairs": flow.pairs_undecided},
        "frozen": list(frozen_versions(review.root, review.source)),
    }


def _mine(
    review: Review, stage: Any, reviewer: str, raters: int | None, repeats: float
) -> dict[str, int]:
    votes = review.decisions().votes
    kind: Any = KINDS[stage]
    done = votes.n_done(kind, reviewer)
    if stage == "pairs":
        _, left = review.shown(reviewer, raters=raters, repeats=repeats)
        done += votes.n_done("repeat", reviewer)
    else:
        left = len(review.queue(reviewer, stage, raters=raters))
    return {"left": left, "total": left + done}


def _reviewers(review: Review, agreed: Agreement) -> list[dict[str, Any]]:
    progress = review.progress()
    passes = {
        "anchors": progress.anchors.done,
        "pairs": progress.pairs.done,
        "joint": progress.joint.done,
    }
    names = sorted({name for done in passes.values() for name in done})
    pairs = {one.reviewer: one for one in agreed.reviewers if one.stage == "pairs"}
    twice = {one.reviewer: one for one in agreed.repeats}
    found = []
    for name in names:
        own, again = pairs.get(name), twice.get(name)
        found.append(
            {
                "reviewer": name,
                **{stage: done.get(name, 0) for stage, done in passes.items()},
                "seconds": own and own.seconds,
                "accept_rate": own and own.accepted,
                "with_majority": own and own.agrees,
                "repeated": again.pairs if again else 0,
                "steady": again and again.agrees,
                "steady_kappa": again and again.kappa,
            }
        )
    return found


def _counted(review: Review) -> tuple[Agreement, Funnel, tuple[SuspicionBand, ...]]:
    """Agreement, funnel and suspicion, counted anew only after something was decided.

    All pairs are gone through; an overview that is left open asks every few seconds.
    """
    with _lock:
        kept: tuple[int, Any] | None = getattr(review, "_counted", None)
        if kept is None or kept[0] != review.n_events:
            found = agreement(review), funnel(review), by_suspicion(review)
            kept = (review.n_events, found)
            review._counted = kept  # type: ignore[attr-defined]
        return kept[1]
