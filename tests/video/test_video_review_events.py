"""What is a decision, and what is refused with the reason in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.video.review.events import Event, read_event, read_events, record_of

GOOD: dict[str, Any] = {
    "id": "0" * 32,
    "kind": "pair",
    "reviewer": "Anna",
    "mined_version": "abc",
    "subject": "clip/000001/000002",
    "verdict": "similar",
}


@pytest.mark.parametrize("name", ["Anna", "ben 2", "Jörg", "李", "a.b-c_d", "9", "x" * 40])
def test_people_have_all_kinds_of_names(name: str) -> None:
    assert read_event({**GOOD, "reviewer": name}).reviewer == name


def test_one_name_in_two_spellings_is_one_reviewer() -> None:
    assert read_event({**GOOD, "reviewer": "Jo\u0308rg"}).reviewer == "J\u00f6rg"


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "...",
        "x" * 41,
        " anna",
        "anna ",
        "anna\n",
        "../anna",
        "a/b",
        "a\\b",
        "a\0b",
        "<b>anna</b>",
        "a,b",
        'a"b',
        "=1+1",
        "a\u202eb",
        "\ud800",
        7,
        None,
    ],
)
def test_hostile_names_are_refused_by_name_of_the_field(name: Any) -> None:
    with pytest.raises(ShiftlakeError) as caught:
        read_event({**GOOD, "reviewer": name})
    assert "reviewer" in caught.value.expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "not hex at all!!"),
        ("id", "0" * 32 + "\n"),
        ("id", "0" * 65),
        ("id", ""),
        ("kind", "vote"),
        ("verdict", "usable"),
        ("verdict", None),
        ("subject", ""),
        ("subject", "x" * 1_025),
        ("reasons", ["motion"]),
        ("labels", [3]),
        ("note", "x" * 2_001),
        ("ms_spent", -1),
        ("at", "yesterday"),
        ("at", "2024-05-01T12:00:00"),
        ("at", "9999-12-31T23:59:59-12:00"),
        ("at", "0001-01-01T00:00:00+12:00"),
        ("colour", "red"),
    ],
)
def test_what_is_no_decision_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ShiftlakeError, match="cannot be understood") as caught:
        read_event({**GOOD, field: value})
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    ("kind", "verdict", "more"),
    [
        ("anchor", "usable", {"labels": [3, 5]}),
        ("anchor", "bad", {}),
        ("joint", "usable", {"labels": [2], "recorded_by": "Ben"}),
        ("joint", "dissimilar", {"reasons": ["blur", "other"]}),
        ("pair", "wrong_label", {"note": "a fox"}),
        ("undo", None, {}),
    ],
)
def test_a_decision_is_stored_and_read_as_it_was(
    kind: str, verdict: str | None, more: dict[str, Any]
) -> None:
    event = read_event({**GOOD, "kind": kind, "verdict": verdict, **more})
    assert read_events([record_of(event)], "here") == [event]


def test_times_are_of_one_form_so_that_they_sort() -> None:
    for text in ("2024-05-01T14:00:00+02:00", "2024-05-01T12:00:00Z", "2024-05-01 12:00:00+00:00"):
        assert read_event({**GOOD, "at": text}).at == "2024-05-01T12:00:00.000000Z"


def test_a_decision_is_never_changed() -> None:
    with pytest.raises(ValidationError):
        read_event(GOOD).verdict = "dissimilar"  # type: ignore[misc]


def test_one_bad_record_among_many_is_named() -> None:
    with pytest.raises(ShiftlakeError) as caught:
        read_events([GOOD, {**GOOD, "verdict": "maybe"}], "journal")
    assert caught.value.where == "journal, decision 1"


def test_the_columns_are_the_ones_that_people_export() -> None:
    assert tuple(Event.model_fields)[:7] == (
        "id",
        "kind",
        "reviewer",
        "at",
        "mined_version",
        "subject",
        "verdict",
    )
