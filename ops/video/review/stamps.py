"""When something was decided: times that only go forward, whatever the clock does."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from ops.video.review.events import TOOL_VERSION, Event

_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


def stamped(events: Iterable[Event], newest: str) -> list[Event]:
    """Give events without a time the time now; all in a row that fits into one moment the same.

    Parameters
    ----------
    events : iterable of Event
        In the order in which they were decided.
    newest : str
        Time of the newest event known: those stamped here come after it, for of two verdicts the
        newer counts.
    """
    now = _after(newest)
    seen: set[tuple[str, str, str]] = set()
    found = []
    for event in events:
        about = (event.kind, event.reviewer, event.subject)
        if about in seen or event.kind == "undo":
            now = _after(now)
            seen.clear()
        seen.add(about)
        if not (event.at and event.tool_version):
            more = {
                "at": event.at or now,
                "tool_version": event.tool_version or TOOL_VERSION,
            }
            event = event.model_copy(update=more)
        found.append(event)
    return found


def _after(time: str) -> str:
    now = datetime.now(UTC).strftime(_TIME)
    if now > time:
        return now
    return (datetime.strptime(time, _TIME) + timedelta(microseconds=1)).strftime(_TIME)
