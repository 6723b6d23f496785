"""Decisions as they come from a browser: in its order, each once, and the bad ones told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ops.errors import ShiftlakeError
from ops.video.review import Event, Review, read_event
from ops.video.review.refused import OlderMining, check_event


def record_all(
    review: Review, mined_version: str, sent: Sequence[Any]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Record what can be recorded; it is on disk when this returns.

    Parameters
    ----------
    review : Review
    mined_version : str
        What the browser shows.
    sent : sequence
        Fields of an event each, in the order in which they were decided.

    Returns
    -------
    recorded : list of str
        Ids that are on disk now, whether they were before or not.
    refused : list of dict
        ``id``, ``subject`` and ``error`` of those that will never be: one bad decision must not
        hold up those behind it.

    Raises
    ------
    OlderMining
        If the frames were mined anew.
    ShiftlakeError
        If the lake takes nothing now (the disk is full); to be sent again.
    """
    recorded: list[str] = []
    refused: list[dict[str, Any]] = []
    events: list[Event] = []
    for fields in sent:
        about = fields if isinstance(fields, dict) else {}
        try:
            events.append(read_event({**about, "mined_version": mined_version, "at": ""}))
        except ShiftlakeError as error:
            refused.append(_refusal(about.get("id"), about.get("subject"), error))
    for run in _runs(events):
        fit: list[Event] = []
        known = review.decisions().votes.events
        for event in run:
            try:
                check_event(review, event, known)
                fit.append(event)
            except OlderMining:
                raise
            except ShiftlakeError as error:
                refused.append(_refusal(event.id, event.subject, error))
        if fit:
            review.record(fit)
            recorded += [event.id for event in fit]
    return recorded, refused


def _runs(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Cut where an order has to be kept: events recorded at once bear the same time."""
    run: list[Event] = []
    seen: set[tuple[str, str]] = set()
    for event in events:
        about = (event.reviewer, event.subject)
        if event.kind == "undo" or about in seen or event.id in {one.id for one in run}:
            if run:
                yield run
            run, seen = [], set()
        run.append(event)
        seen.add(about)
        if event.kind == "undo":
            yield run
            run, seen = [], set()
    if run:
        yield run


def _refusal(name: object, subject: object, error: ShiftlakeError) -> dict[str, Any]:
    return {
        "id": name if isinstance(name, str) else None,
        "subject": subject if isinstance(subject, str) else None,
        "error": f"{error.what} Expected {error.expected}, found {error.found}.",
    }
