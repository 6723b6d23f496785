"""What a reviewer is shown of an anchor or a pair, as JSON."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ops.video.review import Event, Review
from ops.video.review.votes import Voted

STAGES = ("anchors", "pairs", "joint")
KINDS = {"anchors": "anchor", "pairs": "pair", "joint": "joint"}


def item_of(review: Review, stage: str, subject: str, repeat: bool = False) -> dict[str, Any]:
    """An anchor or a pair, and in joint review everybody's votes on it.

    Parameters
    ----------
    review : Review
    stage : str
        One of `STAGES`.
    subject : str
        A frame set or a neighbour's sample key; KeyError where there is none.
    repeat : bool
        Whether the reviewer sees a pair for the second time.

    Returns
    -------
    dict
        ``id`` (once in a queue), ``subject``, ``votes_as`` (the kind of event a verdict is),
        ``kind`` (anchor or pair), ``frame_set``, ``pictures`` (a list of ``name`` and ``url``),
        ``labels`` and ``suggested`` (of a pair). Neither offset nor time: who knows them expects
        something.
    """
    if review.has_anchor(subject):
        anchor = review.anchor(subject)
        item: dict[str, Any] = {"kind": "anchor", "frame_set": subject, "suggested": None}
        pictures = {"anchor": anchor.sample_key}
        item["labels"] = anchor.labels
    else:
        pair = review.pair(subject)
        item = {"kind": "pair", "frame_set": pair.frame_set, "suggested": pair.suggested}
        pictures = {"anchor": pair.anchor, "neighbour": pair.sample_key}
        added = review.decisions().anchor(pair.frame_set).labels
        item["labels"] = sorted({*review.anchor(pair.frame_set).labels, *added})
    item["subject"] = subject
    item["id"] = f"{subject} again" if repeat else subject
    item["votes_as"] = "repeat" if repeat else KINDS[stage]
    item["pictures"] = [
        {"name": name, "url": image_url(review, key)} for name, key in pictures.items()
    ]
    if stage == "joint":
        item["votes"] = votes_of(review, subject)
    return item


def image_url(review: Review, key: str) -> str:
    """Address of a frame: it names the mining, so that it can be kept for good."""
    return f"/images/{quote(review.source)}/{review.mined_version}/{quote(key)}"


def votes_of(review: Review, subject: str) -> list[dict[str, Any]]:
    """What each reviewer said, alone and in the joint review, sorted by name.

    Whoever judged anything in the pass before has a voice, on what they have not seen, too.
    """
    votes = review.decisions().votes
    kind: Voted = "anchor" if review.has_anchor(subject) else "pair"
    with review.held():
        alone, joint = votes.counting(kind, subject), votes.counting("joint", subject)
        names = votes.voters(kind) | joint.keys()
    return [
        {
            "reviewer": name,
            **_vote(alone.get(name)),
            "joint": None if name not in joint else joint[name].verdict,
            "joint_reasons": () if name not in joint else joint[name].reasons,
        }
        for name in sorted(names)
    ]


def mine(review: Review, stage: str, reviewer: str, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How much a reviewer decided, and the last items, the newest at the end, with decisions."""
    votes = review.decisions().votes
    kinds: dict[str, tuple[Voted, ...]] = {
        "anchors": ("anchor",),
        "pairs": ("pair", "repeat"),
        "joint": ("joint",),
    }
    with review.held():
        cast = [event for kind in kinds[stage] for event in votes.of(reviewer, kind)]
        events = sorted(cast, key=lambda one: (one.at, one.id))
        return len(events), [
            {
                **item_of(review, stage, event.subject, repeat=event.kind == "repeat"),
                "decision": {"event": event.id, **_vote(event)},
            }
            for event in events[max(0, len(events) - limit) :]
        ]


def _vote(event: Event | None) -> dict[str, Any]:
    if event is None:
        return {"verdict": None, "reasons": (), "labels": (), "note": ""}
    return {
        "verdict": event.verdict,
        "reasons": event.reasons,
        "labels": event.labels,
        "note": event.note,
    }
