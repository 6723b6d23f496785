"""Decisions of made-up reviewers."""

from __future__ import annotations

import uuid
from typing import Any

from ops.video.review import Event, Review


def event(review: Review, kind: str, reviewer: str, subject: str, verdict: str | None, **more: Any):
    return Event.model_validate(
        {
            "id": uuid.uuid4().hex,
            "kind": kind,
            "reviewer": reviewer,
            "mined_version": review.mined_version,
            "subject": subject,
            "verdict": verdict,
            **more,
        }
    )


def say(review: Review, kind: str, reviewer: str, subject: str, verdict: str | None, **more: Any):
    """Record one decision and return its event."""
    made = event(review, kind, reviewer, subject, verdict, **more)
    review.record([made])
    return review.decisions().votes.events[made.id]


def accept_all(review: Review, reviewer: str) -> None:
    """Call every anchor usable and every pair similar."""
    review.record(
        [event(review, "anchor", reviewer, item.frame_set, "usable") for item in review.anchors]
        + [event(review, "pair", reviewer, item.sample_key, "similar") for item in review.pairs]
    )
