"""Events go out as CSV and come in again as they were, once."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_decisions import event, say
from made_mining import frame_set, key, mine_by_hand

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.video.review import Review, export_csv, import_csv
from ops.video.review.csv_files import read_csv
from ops.video.review.imported import Imported
from ops.video.review.refused import OlderMining

SETS = {("a", 5): (4, 6), ("b", 9): (8, 10)}
PAIR = key("a", 5, 6)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", SETS)
    return root


@pytest.fixture
def other(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "other")
    mine_by_hand(root, "things", SETS)
    return root


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_review_goes_from_lake_to_lake_and_nothing_is_added_twice(root: Root, other: Root):
    review = Review.open(root, "things")
    say(review, "anchor", "anna", frame_set("a", 5), "usable", labels=[7, 2])
    made = say(review, "pair", "Jörg", PAIR, "dissimilar", reasons=["motion", "blur"], ms_spent=9)
    say(review, "joint", "anna", PAIR, "similar", recorded_by="Jörg", note='a "b",\nc')
    say(review, "undo", "Jörg", made.id, None)
    text = export_csv(review)
    assert import_csv(other, "things", None, text) == Imported(recorded=4, known=0)
    assert Review.open(other, "things").events == review.events
    assert import_csv(other, "things", None, text) == Imported(recorded=0, known=4)
    assert import_csv(root, "things", None, text) == Imported(recorded=0, known=4)
    assert len(Review.open(other, "things").events) == 4
    assert export_csv(Review.open(other, "things")) == text


NOTES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40
) | st.sampled_from(["=1+1", "'", "'=1", "-", "@x", "\r\n", "\t", ' " ', "a\rb", "\ufeff", ""])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(notes=st.lists(NOTES, min_size=1, max_size=4))
def test_whatever_people_write_comes_back(notes: list[str]) -> None:
    review: Any = SimpleNamespace(mined_version="v", events=())
    review.events = tuple(event(review, "pair", "anna", PAIR, "unsure", note=n) for n in notes)
    text = export_csv(review)
    assert not [row for row in rows(text) if row["note"].startswith(("=", "+", "-", "@"))]
    assert tuple(read_csv(text, "v")) == review.events


def test_a_recorded_review_may_leave_out_what_changes(root: Root) -> None:
    text = (
        "kind,reviewer,subject,verdict,labels,at\n"
        f"anchor,anna,{frame_set('a', 5)},usable,4 1,\n"
        f"pair,anna,{PAIR},similar,,2024-05-01T12:00:00Z\n"
    )
    assert import_csv(root, "things", None, "\ufeff" + text).recorded == 2
    assert import_csv(root, "things", None, text.replace("\n", "\r\n")).recorded == 0
    review = Review.open(root, "things")
    assert review.decisions().anchor(frame_set("a", 5)).labels == (1, 4)
    assert review.decisions().stands(PAIR)
    assert review.events[0].at == "2024-05-01T12:00:00.000000Z"
    # The sealed mining is another now: the same rows are about that one.
    mine_by_hand(root, "things", SETS, salt="again")
    assert import_csv(root, "things", None, text).recorded == 2


def test_a_file_about_an_older_mining_is_refused_by_name(root: Root) -> None:
    review = Review.open(root, "things")
    say(review, "pair", "anna", PAIR, "similar")
    text = export_csv(review)
    mine_by_hand(root, "things", SETS, salt="again")
    with pytest.raises(OlderMining, match=review.mined_version):
        import_csv(root, "things", None, text)
    assert import_csv(root, "things", None, export_csv(review, any_mining=True)).recorded == 1
    assert Review.open(root, "things").decisions().pair(PAIR).state == "accepted"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "header"),
        ("kind,reviewer\nanchor,anna\n", "header"),
        ("kind,reviewer,subject,mood\n", "header"),
        ("kind,reviewer,subject,verdict\npair,anna,{pair},similar,more\n", "line 2"),
        ("kind,reviewer,subject,verdict\npair,anna\n", "line 2"),
        ("kind,reviewer,subject,verdict\npair,anna,{pair},good\n", "line 2"),
        ("kind,reviewer,subject,verdict\npair,<b>,{pair},similar\n", "line 2"),
        ("kind,reviewer,subject,verdict,labels\nanchor,anna,{anchor},usable,x\n", "line 2"),
        ("kind,reviewer,subject,verdict,labels\nanchor,anna,{anchor},usable,-1\n", "line 2"),
        ("kind,reviewer,subject,verdict,ms_spent\npair,anna,{pair},similar,1e9\n", "line 2"),
        ('kind,reviewer,subject,verdict\npair,anna,"{pair},similar\n', "the text"),
        ("kind,reviewer,subject,verdict,note\npair,anna,{pair},similar," + "x" * 200_000, "text"),
        ("kind,reviewer,subject,verdict\npair,anna,nowhere/0/0,similar\n", "review of things"),
    ],
)
def test_a_bad_file_is_told_where_and_records_nothing(root: Root, text: str, where: str) -> None:
    text = text.format(pair=PAIR, anchor=frame_set("a", 5))
    if text.count("\n") > 1:
        text = text.replace("\n", f"\npair,anna,{PAIR},unsure\n", 1) if "more" in text else text
    with pytest.raises(ShiftlakeError) as caught:
        import_csv(root, "things", None, text)
    assert where in str(caught.value.where) or "line 3" in str(caught.value.where)
    assert len(str(caught.value)) < 1_500
    assert Review.open(root, "things").n_events == 0
