"""Events that come out of files: made so that the same file twice adds nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ops.video.review.events import Event, Kind

if TYPE_CHECKING:
    from ops.video.review.review import Review


class Imported(BaseModel):
    """What an import did.

    Attributes
    ----------
    recorded : int
        Events that were new.
    known : int
        Decisions that the reviewer had made already, and so were not recorded again.
    left : tuple of str
        Names in the file that are not of this mining.
    """

    model_config = ConfigDict(frozen=True)

    recorded: int
    known: int
    left: tuple[str, ...] = ()


def derived_id(*content: object) -> str:
    """Id of an event that is made of a file: 32 hex digits of the hash of what it says."""
    text = json.dumps(content, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def decided(
    review: Review, kind: Kind, reviewer: str, subject: str, verdict: str, **more: Any
) -> Event | None:
    """The event that makes a decision the one that counts; None where it counts already."""
    assert kind != "undo"
    before = review.decisions().votes.counting(kind, subject).get(reviewer)
    said = (verdict, tuple(more.get("reasons", ())), tuple(more.get("labels", ())))
    if before is not None and (before.verdict, before.reasons, before.labels) == said:
        return None
    after = "" if before is None else before.id
    return Event.model_validate(
        {
            # What it replaces is part of the id: a decision may come back after another.
            "id": derived_id(review.mined_version, kind, reviewer, subject, *said, after),
            "kind": kind,
            "reviewer": reviewer,
            "mined_version": review.mined_version,
            "subject": subject,
            "verdict": verdict,
            **more,
        }
    )


def record_decided(
    review: Review, found: Iterable[Event | None], left: Iterable[str] = ()
) -> Imported:
    """Record what :func:`decided` gave, all or nothing."""
    events = list(found)
    # A decision that was withdrawn since has an id that is known; it stays withdrawn.
    before = review.decisions().votes.events
    new = [event for event in events if event is not None and event.id not in before]
    review.record(new)
    return Imported(recorded=len(new), known=len(events) - len(new), left=tuple(sorted(set(left))))
