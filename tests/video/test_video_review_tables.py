"""Reviews as tables: every decision, and every frame of every frozen review."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from made_decisions import accept_all, event, say
from made_mining import frame_set, key, mine_by_hand

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.storage.journal import Journal
from ops.video.review import Review, carry, freeze
from ops.video.review.tables import (
    REVIEW_EVENTS,
    REVIEWED_FRAMES,
    review_events,
    reviewed_frames,
)

SETS = {("a", 5): (4, 6), ("b", 9): (8,)}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


def test_an_empty_lake_has_empty_tables(root: Root) -> None:
    assert review_events(root).schema == REVIEW_EVENTS
    assert reviewed_frames(root).schema == REVIEWED_FRAMES
    assert len(review_events(root)) == len(reviewed_frames(root)) == 0


def test_every_decision_is_a_row_withdrawn_or_not(root: Root) -> None:
    mine_by_hand(root, "things", SETS)
    mine_by_hand(root, "others", SETS)
    review = Review.open(root, "things")
    say(review, "anchor", "anna", frame_set("a", 5), "usable", labels=[2])
    say(review, "pair", "anna", key("a", 5, 6), "dissimilar", reasons=["blur"], ms_spent=1_500)
    review.undo("anna")
    say(Review.open(root, "others"), "pair", "ben", key("a", 5, 6), "similar")
    old = review.mined_version
    new = mine_by_hand(root, "things", SETS, salt="again")
    carry(root, "things", old)
    events = review_events(root)
    assert events.schema == REVIEW_EVENTS
    rows = duckdb.sql(
        "SELECT source, mined_version = '" + new + "', current, kind, reviewer, verdict, "
        "withdrawn FROM events ORDER BY ALL"
    ).fetchall()
    assert rows == [
        ("others", False, True, "pair", "ben", "similar", False),
        ("things", False, False, "anchor", "anna", "usable", False),
        ("things", False, False, "pair", "anna", "dissimilar", True),
        ("things", False, False, "undo", "anna", None, False),
        ("things", True, True, "anchor", "anna", "usable", False),
    ]
    (row,) = [row for row in events.to_pylist() if row["reasons"]]
    assert (row["reasons"], row["ms_spent"], row["labels"]) == (["blur"], 1_500, [])


def test_who_entered_a_joint_vote_withdraws_it_in_the_table_too(root: Root) -> None:
    mine_by_hand(root, "things", SETS)
    review = Review.open(root, "things")
    pair = key("a", 5, 6)
    say(review, "pair", "ben", pair, "unsure")
    review.record([event(review, "joint", "ben", pair, "similar", recorded_by="anna")])
    review.undo("anna")
    rows = {row["kind"]: row["withdrawn"] for row in review_events(root).to_pylist()}
    assert rows == {"pair": False, "joint": True, "undo": False}


@pytest.mark.parametrize("record", [{}, {"id": 3, "kind": "pair"}, {"id": "0" * 8, "kind": []}])
def test_what_is_no_decision_is_told(root: Root, record: dict) -> None:
    Journal(root, "video/things/reviews/v").append([record])
    with pytest.raises(ShiftlakeError, match="cannot be understood"):
        review_events(root)


def test_every_frozen_frame_is_a_row_and_one_frozen_review_is_current(root: Root) -> None:
    mine_by_hand(root, "things", SETS)
    review = Review.open(root, "things")
    accept_all(review, "anna")
    first = freeze(root, "things", None)
    say(review, "anchor", "anna", frame_set("a", 5), "bad")
    second = freeze(root, "things", None)
    frames = reviewed_frames(root)
    assert frames.schema == REVIEWED_FRAMES
    counted = duckdb.sql(
        "SELECT frozen_version, current, state, why, count(*) FROM frames GROUP BY ALL"
    ).fetchall()
    assert sorted(counted) == sorted(
        [
            (first.version, False, "accepted", "usable", 2),
            (first.version, False, "accepted", "similar", 3),
            (second.version, True, "accepted", "usable", 1),
            (second.version, True, "accepted", "similar", 1),
            (second.version, True, "rejected", "bad", 1),
            (second.version, True, "rejected", "bad_anchor", 2),
        ]
    )
    mine_by_hand(root, "things", SETS, salt="again")
    assert not any(reviewed_frames(root)["current"].to_pylist())
