"""What a reviewer is shown next: the suspicious early, a random share throughout, never a film."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from made_decisions import accept_all, event, say
from made_mining import frame_set, mine_by_hand

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.video.review import Review
from ops.video.review.order import is_random_draw

SETS = {(f"clip{n}", 10): [frame for frame in range(21) if frame != 10] for n in range(60)}


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Root:
    root = open_root(tmp_path_factory.mktemp("queue") / "lake")
    mine_by_hand(root, "things", SETS)
    return root


@pytest.fixture
def review(tmp_path: Path) -> Review:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", {("a", 5): (4, 6), ("b", 5): (4, 6)})
    return Review.open(root, "things")


@pytest.mark.parametrize("order", ["suspicious", "random"])
def test_no_sequence_is_seen(mined: Root, order: str) -> None:
    review = Review.open(mined, "things")
    keys = review.queue("anna", "pairs", order)
    assert sorted(keys) == [item.sample_key for item in review.pairs]
    sets = [review.pair(key).frame_set for key in keys]
    assert all(one != two for one, two in pairwise(sets))


def test_set_order_is_along_the_video(mined: Root) -> None:
    review = Review.open(mined, "things")
    first = review.queue("anna", "pairs", "set", limit=20)
    assert [review.pair(key).frame_offset for key in first] == [*range(-10, 0), *range(1, 11)]
    assert len({review.pair(key).frame_set for key in first}) == 1


def test_the_suspicious_come_early_and_a_random_tenth_throughout(mined: Root) -> None:
    review = Review.open(mined, "things")
    keys = review.queue("anna", "pairs", "suspicious")
    drawn = [key for key in keys if is_random_draw(review.mined_version, key)]
    assert 0.07 < len(drawn) / len(keys) < 0.13
    for start in range(0, 1_000, 100):
        part = keys[start : start + 100]
        assert 9 <= sum(key in set(drawn) for key in part) <= 11
    others = [review.pair(key).suspicion for key in keys if key not in set(drawn)]
    thirds = [others[: len(others) // 3], others[-len(others) // 3 :]]
    assert sum(thirds[0]) / len(thirds[0]) > 0.75
    assert sum(thirds[1]) / len(thirds[1]) < 0.25
    # The random share shows what suspicion is worth: it must not depend on it.
    mean = sum(review.pair(key).suspicion for key in drawn) / len(drawn)
    assert 0.35 < mean < 0.65


def test_the_order_is_each_reviewers_own_and_always_the_same(mined: Root) -> None:
    one, two = Review.open(mined, "things"), Review.open(mined, "things")
    for stage in ("anchors", "pairs"):
        assert one.queue("anna", stage) == two.queue("anna", stage)
        assert one.queue("anna", stage) != one.queue("ben", stage)
        assert sorted(one.queue("anna", stage)) == sorted(one.queue("ben", stage))


def test_what_is_done_does_not_come_again_until_it_is_withdrawn(review: Review) -> None:
    keys = review.queue("anna", "pairs")
    say(review, "pair", "anna", keys[0], "similar")
    assert review.queue("anna", "pairs") == keys[1:]
    assert len(review.queue("ben", "pairs")) == 4
    assert review.queue("anna", "pairs", limit=2) == keys[1:3]
    assert review.queue("anna", "pairs", limit=0) == []
    review.undo("anna")
    assert review.queue("anna", "pairs") == keys


def test_reviewers_can_share_the_work(review: Review) -> None:
    first = review.queue("anna", "pairs", raters=1)[0]
    say(review, "pair", "anna", first, "similar")
    assert first not in review.queue("ben", "pairs", raters=1)
    assert first in review.queue("ben", "pairs", raters=2)
    anchor = review.queue("ben", "anchors", raters=1)[0]
    say(review, "anchor", "ben", anchor, "usable")
    assert anchor not in review.queue("anna", "anchors", raters=1)


def test_pairs_of_an_anchor_that_may_not_stand_are_not_shown(review: Review) -> None:
    say(review, "anchor", "anna", frame_set("a", 5), "bad")
    assert {review.pair(key).frame_set for key in review.queue("ben", "pairs")} == {"b/000005"}
    say(review, "anchor", "ben", frame_set("a", 5), "usable")
    assert len(review.queue("ben", "pairs")) == 2, "contested"
    say(review, "anchor", "anna", frame_set("a", 5), "usable")
    assert len(review.queue("ben", "pairs")) == 4


def test_what_is_contested_waits_for_everyone_in_the_joint_review(review: Review) -> None:
    accept_all(review, "anna")
    assert review.queue("anna", "joint") == []
    pair = review.pairs[3].sample_key
    say(review, "pair", "ben", pair, "dissimilar")
    say(review, "anchor", "ben", frame_set("a", 5), "unsure")
    assert review.queue("anna", "joint") == review.queue("ben", "joint") == ["a/000005", pair]
    assert review.has_anchor("a/000005")
    assert review.has_pair(pair)
    say(review, "joint", "anna", pair, "similar")
    assert review.queue("anna", "joint") == ["a/000005"]
    assert review.queue("ben", "joint") == ["a/000005", pair]
    say(review, "joint", "ben", pair, "similar")
    assert review.queue("ben", "joint") == ["a/000005"]
    votes = [event(review, "joint", name, "a/000005", "usable") for name in ("anna", "ben")]
    review.record(votes)
    assert review.queue("ben", "joint") == []


def test_a_name_nobody_can_have_gets_no_queue(review: Review) -> None:
    for ask in (lambda: review.queue("<script>", "pairs"), lambda: review.undo("")):
        with pytest.raises(ShiftlakeError, match="under this name"):
            ask()
