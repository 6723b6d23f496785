"""One decision of one person, as it is kept: only ever added, never changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from ops.errors import ShiftlakeError

Kind = Literal["anchor", "pair", "joint", "repeat", "undo"]
AnchorVerdict = Literal["usable", "bad", "unsure"]
PairVerdict = Literal["similar", "dissimilar", "wrong_label", "unsure"]
# Listed once: a union of both would be tried one after the other for every decision that is read.
Verdict = Literal["usable", "bad", "similar", "dissimilar", "wrong_label", "unsure"]
Reason = Literal["motion", "background", "blur", "distinctive", "other"]

ANCHOR_VERDICTS: tuple[str, ...] = get_args(AnchorVerdict)
PAIR_VERDICTS: tuple[str, ...] = get_args(PairVerdict)
REASONS: tuple[Reason, ...] = get_args(Reason)

_FITTING: dict[str, tuple[str | None, ...]] = {
    "anchor": ANCHOR_VERDICTS,
    "pair": PAIR_VERDICTS,
    "joint": (*ANCHOR_VERDICTS, *PAIR_VERDICTS),
    "repeat": PAIR_VERDICTS,
    "undo": (None,),
}

# Raised by one whenever what a reviewer is shown or asked changes.
TOOL_VERSION = "2"

_NAME = re.compile(r"[\w .-]{1,40}")
_STORED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LONGEST_NOTE = 2_000
# What a column of counts or milliseconds holds.
_LARGEST = 2**31 - 1


@lru_cache(maxsize=4_096)
def reviewer_name(text: str) -> str:
    """The name of a reviewer, in one spelling of each letter.

    Raises
    ------
    ValueError
        If it is not 1 to 40 letters, digits, spaces, dots, hyphens and underscores, with a letter
        or digit among them and no space at its ends.
    """
    name = unicodedata.normalize("NFC", text)
    if not _NAME.fullmatch(name) or name != name.strip() or not any(c.isalnum() for c in name):
        raise ValueError(
            "a reviewer's name is 1 to 40 letters, digits, spaces, dots, hyphens or underscores"
        )
    return name


def require_reviewer(text: str) -> str:
    """As :func:`reviewer_name`, for a name that a person gave.

    Raises
    ------
    ShiftlakeError
        If nobody can have it.
    """
    try:
        return reviewer_name(text)
    except ValueError as error:
        raise ShiftlakeError(
            "Nobody can review under this name.",
            expected=str(error),
            found=repr(text)[:100],
            where="reviewer",
            remedy="choose another name",
        ) from error


def utc_time(text: str) -> str:
    """An ISO 8601 time in UTC with microseconds, so that times sort as text.

    Raises
    ------
    ValueError
        If it is no time, or has no offset from UTC.
    """
    if not text:
        return text
    time = datetime.fromisoformat(text)
    if _STORED_TIME.fullmatch(text):
        return text
    if time.tzinfo is None:
        raise ValueError("a time needs its offset from UTC, such as 2024-05-01T12:00:00Z")
    try:
        return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except OverflowError as error:
        raise ValueError("a time lies in the years 1 to 9999, in UTC as well") from error


Reviewer = Annotated[str, AfterValidator(reviewer_name)]
Time = Annotated[str, AfterValidator(utc_time)]


class Event(BaseModel):
    """A decision, or the withdrawal of one.

    Attributes
    ----------
    id : str
        8 to 64 hex digits, made where the decision was made: sent again, it is the same event.
    kind : {"anchor", "pair", "joint", "repeat", "undo"}
        Which pass it belongs to; ``repeat`` is a second look at a pair, which decides nothing.
    reviewer : str
        Whose decision it is.
    at : str
        UTC time; empty where :meth:`Review.record` is to give it the time of recording.
    mined_version : str
        The mining that was looked at.
    subject : str
        A frame set for ``anchor``; a neighbour's sample key for ``pair`` and ``repeat``; either
        for ``joint``; the id of an event for ``undo``.
    verdict : str or None
        Of an anchor usable, bad or unsure; of a pair similar, dissimilar, wrong_label or unsure.
        None for ``undo``.
    reasons : tuple of str
        Why a pair is dissimilar.
    labels : tuple of int
        Classes that a usable anchor shows beside those it has.
    note : str
        At most 2,000 characters.
    ms_spent : int or None
        Milliseconds between seeing and deciding.
    shown : int or None
        How many things the reviewer had been shown before.
    recorded_by : str or None
        Who entered a joint decision, if not the reviewer.
    tool_version : str
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}\z")]
    kind: Kind
    reviewer: Reviewer
    at: Time = ""
    mined_version: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    subject: Annotated[str, StringConstraints(min_length=1, max_length=1_024)]
    verdict: Verdict | None = None
    reasons: tuple[Reason, ...] = ()
    labels: tuple[Annotated[int, Field(ge=0, le=32_767)], ...] = ()
    note: Annotated[str, StringConstraints(max_length=_LONGEST_NOTE)] = ""
    ms_spent: Annotated[int, Field(ge=0, le=_LARGEST)] | None = None
    shown: Annotated[int, Field(ge=0, le=_LARGEST)] | None = None
    recorded_by: Reviewer | None = None
    tool_version: Annotated[str, StringConstraints(max_length=64)] = ""

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.verdict not in _FITTING[self.kind]:
            fitting = _FITTING[self.kind]
            raise ValueError(f"the verdict of an event of kind {self.kind} is one of {fitting}")
        if self.reasons and self.verdict != "dissimilar":
            raise ValueError("reasons belong to the verdict dissimilar")
        if self.labels and self.verdict != "usable":
            raise ValueError("labels are added to a usable anchor")
        return self

    @property
    def entered_by(self) -> str:
        """Who entered it, and may withdraw it beside the reviewer."""
        return self.recorded_by or self.reviewer


_EVENTS = TypeAdapter(list[Event])


def read_event(fields: Mapping[str, Any], where: object = "a decision") -> Event:
    """Make an event of what a page or a file says.

    Raises
    ------
    ShiftlakeError
        If it is none; the message names the field.
    """
    try:
        return Event.model_validate(fields)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in problem["loc"]) or "the event"
        raise ShiftlakeError(
            "A decision cannot be understood.",
            expected=f"{name}: {problem['msg'].removeprefix('Value error, ')}",
            found=repr(problem.get("input"))[:200],
            where=where,
            remedy="correct it; nothing was recorded",
        ) from error


def read_events(records: Iterable[Mapping[str, Any]], where: object) -> list[Event]:
    """Make events of many records, fast.

    Raises
    ------
    ShiftlakeError
        If one is none; the message names it.
    """
    records = list(records)
    try:
        return _EVENTS.validate_python(records)
    except ValidationError:
        return [read_event(fields, f"{where}, decision {n}") for n, fields in enumerate(records)]


def events_of(array: bytes) -> list[Event]:
    """Make events of a JSON array; ValidationError, which names no place, where one is none."""
    return _EVENTS.validate_json(array)


def record_of(event: Event) -> dict[str, Any]:
    """What is stored of an event: every field that says something."""
    return event.model_dump(mode="json", exclude_defaults=True)
