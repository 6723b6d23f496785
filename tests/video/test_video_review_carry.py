"""What was decided on an older mining stands for frames that are the same, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_decisions import accept_all, say
from made_mining import frame_set, key, mine_by_hand

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.video.review import Carried, Review, carry

SETS = {("a", 5): (4, 6), ("b", 9): (8, 10)}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def old(root: Root) -> Review:
    mine_by_hand(root, "things", SETS)
    return Review.open(root, "things")


def test_what_is_the_same_is_taken_over_once(old: Review, root: Root) -> None:
    accept_all(old, "anna")
    made = say(old, "anchor", "ben", frame_set("a", 5), "usable", labels=[1], note="a bird")
    mine_by_hand(root, "things", {**SETS, ("c", 0): (1,)}, salt="more clips")
    assert carry(root, "things", old.mined_version) == Carried(recorded=7, known=0, changed=0)
    new = Review.open(root, "things")
    assert new.decisions().pair_states()["accepted"] == 4
    assert new.decisions().anchor(frame_set("a", 5)).labels == (1,)
    taken = next(event for event in new.events if event.reviewer == "ben")
    assert (taken.at, taken.note, taken.mined_version) == (made.at, "a bird", new.mined_version)
    assert taken.id != made.id
    assert carry(root, "things", old.mined_version) == Carried(recorded=0, known=7, changed=0)
    assert new.refresh().votes.n_unknown == 0
    assert Review.open(root, "things", version=old.mined_version).n_events == 7, "nothing is moved"


def test_a_verdict_does_not_outlive_what_was_seen(old: Review, root: Root) -> None:
    accept_all(old, "anna")
    mine_by_hand(
        root,
        "things",
        {("a", 5): (4, 6), ("b", 9): (8,)},
        # The anchor of a is another picture, a frame of b has other labels, one is gone.
        pictures={key("a", 5, 5): "decoded anew"},
        labels={key("b", 9, 8): (4,)},
    )
    assert carry(root, "things", old.mined_version) == Carried(recorded=1, known=0, changed=5)
    states = Review.open(root, "things").decisions()
    assert states.anchor(frame_set("b", 9)).state == "usable"
    assert states.anchor(frame_set("a", 5)).state == "pending"
    assert states.pair_states()["pending"] == 3


def test_frames_are_known_by_their_pictures_not_by_their_names(old: Review, root: Root) -> None:
    say(old, "pair", "anna", key("a", 5, 6), "dissimilar", reasons=["blur"])
    say(old, "joint", "anna", key("a", 5, 6), "dissimilar", reasons=["blur"])
    renamed = {key("z", 105, 105): key("a", 5, 5), key("z", 105, 106): key("a", 5, 6)}
    mine_by_hand(root, "things", {("z", 105): (106,)}, pictures=renamed)
    assert carry(root, "things", old.mined_version).recorded == 2
    decision = Review.open(root, "things").decisions().pair(key("z", 105, 106))
    assert (decision.state, decision.reasons) == ("rejected", ("blur",))


def test_of_pictures_that_are_the_same_each_keeps_its_own_verdict(root: Root) -> None:
    still = {key("a", 5, frame): "a still" for frame in (4, 5, 6)}
    mine_by_hand(root, "things", {("a", 5): (4, 6)}, pictures=still)
    old = Review.open(root, "things")
    say(old, "pair", "anna", key("a", 5, 4), "similar")
    say(old, "pair", "anna", key("a", 5, 6), "unsure")
    mine_by_hand(root, "things", {("a", 5): (4, 6)}, pictures=still, salt="again")
    carry(root, "things", old.mined_version)
    states = Review.open(root, "things").decisions()
    assert states.pair(key("a", 5, 4)).state == "accepted"
    assert states.pair(key("a", 5, 6)).state == "contested"


def test_what_was_withdrawn_stays_behind(old: Review, root: Root) -> None:
    say(old, "pair", "anna", key("a", 5, 4), "similar")
    say(old, "pair", "anna", key("a", 5, 4), "unsure")
    old.undo("anna")
    mine_by_hand(root, "things", SETS, salt="again")
    assert carry(root, "things", old.mined_version) == Carried(recorded=1, known=0, changed=0)
    assert Review.open(root, "things").decisions().pair(key("a", 5, 4)).state == "accepted"


def test_what_was_decided_since_is_newer(old: Review, root: Root) -> None:
    say(old, "pair", "anna", key("a", 5, 4), "similar")
    mine_by_hand(root, "things", SETS, salt="again")
    say(Review.open(root, "things"), "pair", "anna", key("a", 5, 4), "unsure")
    carry(root, "things", old.mined_version)
    assert Review.open(root, "things").decisions().pair(key("a", 5, 4)).state == "contested"


def test_the_sealed_mining_and_one_that_never_was_have_nothing_to_carry(
    old: Review, root: Root
) -> None:
    say(old, "pair", "anna", key("a", 5, 4), "similar")
    with pytest.raises(ShiftlakeError, match="not an older one"):
        carry(root, "things", old.mined_version)
    with pytest.raises(ShiftlakeError, match="no mining feed"):
        carry(root, "things", "feed")
