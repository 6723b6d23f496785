"""Hidden repeats: the same pair again, much later, which tells how steady a reviewer is."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_decisions import event, say
from made_mining import frame_set, mine_by_hand

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.video.review import Review, agreement, export_csv, freeze, import_csv
from ops.video.review.freeze import decision_rows
from ops.video.review.repeats import APART, is_repeated

SETS = {(f"clip{n}", 5): (1, 2, 3, 4, 6, 7, 8, 9) for n in range(12)}
SHARE = 0.3


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", SETS)
    return root


@pytest.fixture
def review(root: Root) -> Review:
    return Review.open(root, "things")


def work_through(review: Review, name: str, share: float) -> list[tuple[str, bool]]:
    """Judge all that is shown, some at a time as the page does; what was shown, in order."""
    seen: list[tuple[str, bool]] = []
    in_all = review.shown(name, repeats=share)[1]
    while True:
        items, left = review.shown(name, repeats=share)
        assert len(seen) + left == in_all, "how much there is never tells that a repeat came"
        if not items:
            return seen
        for key, again in items[:35]:
            at = f"2024-01-01T00:{len(seen) // 60:02}:{len(seen) % 60:02}.000000Z"
            kind = "repeat" if again else "pair"
            review.decisions().add([event(review, kind, name, key, "similar", at=at)])
            seen.append((key, again))


def test_some_pairs_come_again_once_and_much_later(review: Review) -> None:
    seen = work_through(review, "anna", SHARE)
    first = [key for key, again in seen if not again]
    again = [key for key, again in seen if again]
    assert sorted(first) == [item.sample_key for item in review.pairs]
    assert len(again) == len(set(again)) > 5
    assert all(is_repeated(review.mined_version, "anna", key, SHARE) for key in again)
    for key in again:
        assert seen.index((key, True)) - seen.index((key, False)) > APART
    sets = [review.pair(key).frame_set for key, _ in seen]
    shown_again = [n for n, (_, again) in enumerate(seen) if again]
    last = max(n for n, (_, again) in enumerate(seen) if not again)
    assert shown_again[0] < last, "not only when all else is done"
    assert not [n for n in shown_again if n < last and sets[n] in (sets[n - 1], sets[n + 1])]


def test_no_share_shows_nothing_twice(review: Review) -> None:
    seen = work_through(review, "anna", 0.0)
    assert len(seen) == len(review.pairs)
    assert not any(again for _, again in seen)


def test_what_comes_again_is_each_reviewers_own(review: Review) -> None:
    def drawn(name: str, share: float) -> set[str]:
        keys = [item.sample_key for item in review.pairs]
        return {key for key in keys if is_repeated(review.mined_version, name, key, share)}

    assert drawn("anna", 0.3) != drawn("ben", 0.3)
    assert drawn("anna", 0.3) <= drawn("anna", 0.5) <= drawn("anna", 1.0)
    assert len(drawn("anna", 1.0)) == len(review.pairs)


def test_a_repeat_is_no_second_vote_and_changes_nothing(review: Review) -> None:
    key = review.pairs[0].sample_key
    say(review, "anchor", "anna", review.pairs[0].frame_set, "usable")
    first = say(review, "pair", "anna", key, "similar")
    say(review, "pair", "ben", key, "similar")
    before = decision_rows(review), agreement(review).kappas, review.progress()
    say(review, "repeat", "anna", key, "dissimilar", reasons=["blur"])
    say(review, "repeat", "cleo", key, "unsure")
    assert (decision_rows(review), agreement(review).kappas, review.progress()) == before
    assert review.decisions().votes.counting("pair", key)["anna"] == first
    assert review.queue("anna", "joint") == []
    assert key in review.queue("cleo", "pairs"), "a repeat is not a verdict"


def test_how_steady_a_reviewer_is(review: Review) -> None:
    keys = [item.sample_key for item in review.pairs[:6]]
    for key in keys:
        say(review, "pair", "anna", key, "similar")
    for key in keys[:3]:
        say(review, "repeat", "anna", key, "similar")
    say(review, "repeat", "anna", keys[3], "dissimilar", reasons=["motion"])
    (found,) = agreement(review).repeats
    # Of 8 verdicts 7 are similar: by chance (7/8)^2 + (1/8)^2 = 0.78125 agree.
    assert (found.reviewer, found.pairs, found.agrees) == ("anna", 4, 0.75)
    assert found.kappa == pytest.approx((0.75 - 0.78125) / (1 - 0.78125))
    say(review, "pair", "anna", keys[3], "dissimilar", reasons=["motion"])
    (found,) = agreement(review).repeats
    assert (found.pairs, found.agrees) == (3, 1.0), "what was judged anew since is left out"
    assert found.kappa is None
    say(review, "repeat", "anna", keys[4], "unsure")
    review.undo("anna")
    assert agreement(review).repeats[0].pairs == 3, "a repeat can be withdrawn"


def test_a_frozen_version_does_not_depend_on_repeats(root: Root, review: Review) -> None:
    for item in review.anchors:
        say(review, "anchor", "anna", item.frame_set, "usable")
    for item in review.pairs:
        say(review, "pair", "anna", item.sample_key, "similar")
    first = freeze(root, "things", None)
    say(review, "repeat", "anna", review.pairs[0].sample_key, "unsure")
    second = freeze(root, "things", None)
    assert second.version == first.version
    assert (first.agreement.repeats, second.agreement.repeats[0].agrees) == ((), 0.0)


def test_repeats_travel_with_the_decisions(tmp_path: Path, review: Review) -> None:
    key = review.pairs[0].sample_key
    say(review, "pair", "anna", key, "similar")
    say(review, "repeat", "anna", key, "similar")
    other = open_root(tmp_path / "other")
    mine_by_hand(other, "things", SETS)
    assert import_csv(other, "things", None, export_csv(review)).recorded == 2
    assert agreement(Review.open(other, "things")).repeats == agreement(review).repeats


def test_pairs_of_a_bad_anchor_do_not_come_again(review: Review) -> None:
    keys = review.queue("anna", "pairs")
    review.record(event(review, "pair", "anna", key, "similar") for key in keys)
    bad = review.pair(keys[0]).frame_set
    now, _ = review.shown("anna", repeats=1.0)
    assert bad in {review.pair(key).frame_set for key, _ in now} or not now
    say(review, "anchor", "ben", bad, "bad")
    now, _ = review.shown("anna", repeats=1.0)
    assert bad not in {review.pair(key).frame_set for key, _ in now}


def test_only_a_pair_can_be_repeated(review: Review) -> None:
    with pytest.raises(ShiftlakeError, match="nothing that was mined"):
        say(review, "repeat", "anna", frame_set("clip0", 5), "similar")
