"""A decision that was acknowledged is on disk, whoever else writes and whatever dies."""

from __future__ import annotations

import errno
import os
import random
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from made_decisions import accept_all, event, say
from made_mining import frame_set, key, mine_by_hand

import ops.video.review.stamps as stamps_module
from ops.errors import ShiftlakeError
from ops.shards.manifest import DatasetMissing
from ops.storage import Root, open_root
from ops.video.review import Review
from ops.video.review.refused import OlderMining

SETS = {("a", 5): (4, 6), ("b", 9): (8, 10, 11), ("c", 0): ()}
ANCHOR, PAIR, OTHER = frame_set("a", 5), key("a", 5, 6), key("b", 9, 10)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def review(root: Root) -> Review:
    mine_by_hand(root, "things", SETS)
    return Review.open(root, "things")


def test_a_review_shows_what_was_mined(review: Review) -> None:
    assert [item.frame_set for item in review.anchors] == ["a/000005", "b/000009", "c/000000"]
    assert [item.sample_key for item in review.pairs] == sorted(
        key(clip, anchor, frame) for (clip, anchor), frames in SETS.items() for frame in frames
    )
    pair = review.pair(OTHER)
    assert (pair.anchor, pair.frame_offset) == (key("b", 9, 9), 1)
    assert pair.dt == pytest.approx(1 / 30)
    assert 0 <= pair.suspicion <= 1
    assert review.class_names[3] == "bicycle"


def test_nothing_to_review_before_it_is_mined(root: Root) -> None:
    with pytest.raises(DatasetMissing):
        Review.open(root, "things")


def test_a_recorded_decision_is_there_for_everyone(review: Review, root: Root) -> None:
    other = Review.open(root, "things")
    made = say(review, "pair", "anna", PAIR, "dissimilar", reasons=["blur"], note="größer\n,")
    assert other.decisions().pair(PAIR).state == "pending"
    assert other.refresh().pair(PAIR).state == "contested"
    assert Review.open(root, "things").events == (made,)
    assert made.tool_version == "2"
    age = datetime.now(UTC) - datetime.fromisoformat(made.at)
    assert 0 <= age.total_seconds() < 60


def test_sent_again_it_is_no_second_decision(review: Review, root: Root) -> None:
    made = event(review, "pair", "anna", PAIR, "similar")
    other = Review.open(root, "things")
    for sent_to in (review, review, other, Review.open(root, "things")):
        sent_to.record([made, made])
    assert review.refresh().votes.done("pair") == {"anna": 1}
    assert len(Review.open(root, "things").events) == 1


def test_sent_to_two_processes_at_once_it_is_one_decision(review: Review, root: Root) -> None:
    other = Review.open(root, "things")
    made = event(review, "pair", "anna", PAIR, "similar")
    # Neither has seen the other's record when it writes its own.
    review._journal.append([{**made.model_dump(mode="json"), "at": "2024-01-01T00:00:01.000000Z"}])
    other._journal.append([{**made.model_dump(mode="json"), "at": "2024-01-01T00:00:00.000000Z"}])
    for opened in (review, other, Review.open(root, "things")):
        opened.refresh()
        assert [known.at for known in opened.events] == ["2024-01-01T00:00:00.000000Z"]
    assert review.events_sha256 == other.events_sha256


def test_an_id_that_stands_for_two_decisions_is_refused(review: Review) -> None:
    made = say(review, "pair", "anna", PAIR, "similar")
    forged = event(review, "pair", "ben", PAIR, "dissimilar", id=made.id)
    with pytest.raises(ShiftlakeError, match="One id stands for two decisions"):
        review.record([forged])
    twice = event(review, "pair", "ben", PAIR, "similar")
    with pytest.raises(ShiftlakeError, match="One id stands for two decisions"):
        review.record([twice, twice.model_copy(update={"verdict": "unsure"})])
    assert review.n_events == 1


@pytest.mark.parametrize(
    ("kind", "subject", "verdict", "more", "message"),
    [
        ("pair", "a/000005/000099", "similar", {}, "nothing that was mined"),
        ("pair", ANCHOR, "similar", {}, "nothing that was mined"),
        ("pair", key("a", 5, 5), "similar", {}, "nothing that was mined"),
        ("anchor", PAIR, "usable", {}, "nothing that was mined"),
        ("anchor", "../../etc/passwd", "usable", {}, "nothing that was mined"),
        ("joint", "nowhere", "usable", {}, "nothing that was mined"),
        ("joint", PAIR, "usable", {}, "does not fit"),
        ("joint", ANCHOR, "similar", {}, "does not fit"),
        ("anchor", ANCHOR, "usable", {"labels": [30]}, "no class"),
        ("undo", "f" * 32, None, {}, "no such decision"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_all_sent_beside_it(
    review: Review, kind: str, subject: str, verdict: str | None, more: dict, message: str
) -> None:
    fine = event(review, "pair", "anna", OTHER, "similar")
    with pytest.raises(ShiftlakeError, match=message):
        review.record([fine, event(review, kind, "anna", subject, verdict, **more)])
    assert review.refresh().votes.events == {}


def test_only_who_decided_withdraws(review: Review) -> None:
    made = say(review, "pair", "anna", PAIR, "similar")
    with pytest.raises(ShiftlakeError, match="by somebody else"):
        say(review, "undo", "ben", made.id, None)
    undo = say(review, "undo", "anna", made.id, None)
    with pytest.raises(ShiftlakeError, match="no such decision"):
        say(review, "undo", "anna", undo.id, None)


def test_undo_goes_back_step_by_step_and_loses_nothing(review: Review, root: Root) -> None:
    assert review.undo("anna") is None
    say(review, "pair", "anna", PAIR, "similar")
    say(review, "pair", "ben", PAIR, "similar")
    say(review, "pair", "anna", PAIR, "dissimilar")
    assert review.decisions().pair(PAIR).state == "contested"
    withdrawn = review.undo("anna")
    assert withdrawn is not None
    assert withdrawn.verdict == "dissimilar"
    assert review.decisions().pair(PAIR).state == "accepted"
    again = review.undo("anna")
    assert again is not None
    assert again.verdict == "similar"
    assert review.undo("anna") is None
    assert review.decisions().votes.done("pair") == {"ben": 1}
    assert Review.open(root, "things").n_events == 5


def test_joint_votes_entered_at_once_are_withdrawn_at_once(review: Review) -> None:
    for name in ("anna", "ben"):
        say(review, "pair", name, PAIR, "dissimilar")
    votes = [
        event(review, "joint", name, PAIR, "similar", recorded_by="anna")
        for name in ("anna", "ben")
    ]
    assert review.record(votes).pair(PAIR).state == "accepted"
    assert review.undo("ben") is not None, "his own verdict of the second pass"
    assert review.undo("anna") is not None
    assert review.decisions().votes.counting("joint", PAIR) == {}
    assert review.decisions().votes.done("pair") == {"anna": 1}


def test_a_clock_that_goes_back_does_not_bring_old_verdicts_back(
    review: Review, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Past(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(1999, 12, 31, tzinfo=tz)

    first = say(review, "pair", "anna", PAIR, "dissimilar")
    monkeypatch.setattr(stamps_module, "datetime", Past)
    second = say(review, "pair", "anna", PAIR, "similar")
    other = Review.open(root, "things")
    third = say(other, "pair", "anna", PAIR, "unsure")
    assert first.at < second.at < third.at
    assert review.refresh().pair(PAIR).why == "unsure"
    assert review.undo("anna") == third
    assert review.decisions().pair(PAIR).state == "accepted"


def test_decisions_sent_together_keep_their_order(review: Review) -> None:
    verdicts = ["similar", "unsure", "similar", "dissimilar"]
    made = [event(review, "pair", "anna", PAIR, verdict) for verdict in verdicts]
    review.record([*made, event(review, "undo", "anna", made[3].id, None)])
    assert review.decisions().pair(PAIR).state == "accepted"
    times = [known.at for known in review.events]
    assert times == sorted(set(times))


def test_a_time_at_the_end_of_time_does_not_stop_a_review(review: Review) -> None:
    with pytest.raises(ShiftlakeError, match="far future"):
        say(review, "pair", "anna", PAIR, "unsure", at="9999-12-31T23:59:59.999999Z")
    say(review, "pair", "anna", PAIR, "unsure", at="2999-12-31T23:59:59.999999Z")
    made = [say(review, "pair", "anna", PAIR, verdict) for verdict in ("dissimilar", "similar")]
    assert review.decisions().pair(PAIR).state == "accepted", "the last one counts"
    assert made[0].at < made[1].at


def test_a_review_of_an_older_mining_is_refused_by_name(review: Review, root: Root) -> None:
    old = review.mined_version
    say(review, "pair", "anna", PAIR, "similar")
    new = mine_by_hand(root, "things", SETS, salt="again")
    for refused in (
        lambda: say(review, "pair", "anna", OTHER, "similar"),
        lambda: review.undo("anna"),
        lambda: Review.open(root, "things").record([event(review, "pair", "ben", PAIR, "similar")]),
        lambda: say(Review.open(root, "things", version=old), "pair", "ben", PAIR, "similar"),
    ):
        with pytest.raises(OlderMining, match=f"older mining of things: {old}") as caught:
            refused()
        assert f"shiftlake reviews carry things {old}" in caught.value.remedy
        assert new in caught.value.expected
    assert Review.open(root, "things").n_events == 0
    assert Review.open(root, "things", version=old).n_events == 1


def test_mining_the_same_again_disturbs_nobody(review: Review, root: Root) -> None:
    mine_by_hand(root, "things", SETS)
    say(review, "pair", "anna", PAIR, "similar")
    assert Review.open(root, "things").n_events == 1


def test_a_mining_that_never_was_is_refused(review: Review, root: Root) -> None:
    with pytest.raises(ShiftlakeError, match="no mining feed of things"):
        Review.open(root, "things", version="feed")


def test_a_damaged_journal_is_told(review: Review, root: Root) -> None:
    say(review, "pair", "anna", PAIR, "similar")
    (name,) = root.list("video/things/reviews")
    root.write_bytes(name, root.read_bytes(name).replace(b'"similar"', b'"simular"'))
    with pytest.raises(ShiftlakeError, match="cannot be understood"):
        Review.open(root, "things")


def test_a_review_does_not_go_on_without_decisions_it_cannot_read(
    review: Review, root: Root
) -> None:
    other = Review.open(root, "things")
    say(other, "pair", "anna", PAIR, "similar")
    (name,) = root.list("video/things/reviews")
    good = root.read_bytes(name)
    root.write_bytes(name, good.replace(b'"similar"', b'"simular"'))
    for _ in range(2):
        with pytest.raises(ShiftlakeError, match="cannot be understood"):
            say(review, "pair", "ben", PAIR, "similar")
    root.write_bytes(name, good)
    say(review, "pair", "ben", PAIR, "similar")
    assert review.decisions().votes.done("pair") == {"anna": 1, "ben": 1}


def test_on_a_full_disk_nothing_counts_and_it_can_be_sent_again(
    review: Review, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = event(review, "pair", "anna", PAIR, "similar")

    def full(file: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ShiftlakeError, match="disk is full"):
        review.record([made])
    monkeypatch.undo()
    assert review.refresh().pair(PAIR).state == "pending"
    assert review.record([made]).pair(PAIR).state == "accepted"
    assert Review.open(root, "things").n_events == 1


def test_two_reviewers_on_one_pair_at_once(review: Review, root: Root) -> None:
    """Each has a process of its own, and neither is lost or overwritten."""
    children = []
    for name in ("anna", "ben"):
        child = os.fork()
        if child == 0:
            mine = Review.open(root, "things")
            for n in range(60):
                say(mine, "pair", name, PAIR, ("similar", "unsure")[(n + (name == "ben")) % 2])
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    assert review.refresh().votes.done("pair") == {"anna": 1, "ben": 1}
    assert review.n_events == 120
    assert review.decisions().pair(PAIR).state == "contested"
    assert Review.open(root, "things").events == review.events


def test_threads_share_a_review(review: Review) -> None:
    def work(name: str) -> None:
        for item in review.pairs * 5:
            say(review, "pair", name, item.sample_key, "similar")
            review.queue(name, "pairs")
            review.progress()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("anna", "ben", "cleo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert review.n_events == 75
    assert review.decisions().pair_states()["accepted"] == 5


def test_what_was_acknowledged_survives_kill_9(review: Review, root: Root) -> None:
    draw = random.Random(5)
    acknowledged: set[str] = set()
    for turn in range(40):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            mine = Review.open(root, "things")
            for n in range(1_000):
                made = event(mine, "pair", f"r{turn}", PAIR, "similar", id=f"{turn:08x}{n:08x}")
                mine.record([made])
                os.write(write_end, made.id.encode())
        os.close(write_end)
        first = os.read(read_end, 16)
        time.sleep(draw.random() * 0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(read_end, "rb") as pipe:
            told = first + pipe.read()
        acknowledged |= {told[at : at + 16].decode() for at in range(0, len(told), 16)}
    opened = Review.open(root, "things")
    assert acknowledged <= set(opened.decisions().votes.events)
    assert opened.n_events - len(acknowledged) <= 40
    assert opened.decisions().votes.voters("pair") == {f"r{turn}" for turn in range(40)}


def test_progress_counts_each_pass_and_reviewer(review: Review) -> None:
    accept_all(review, "anna")
    say(review, "pair", "ben", PAIR, "dissimilar")
    say(review, "anchor", "ben", frame_set("b", 9), "bad")
    progress = review.progress()
    assert progress.anchors.total == 3
    assert progress.anchors.states == {"usable": 2, "contested": 1, "pending": 0, "bad": 0}
    assert progress.anchors.done == {"anna": 3, "ben": 1}
    assert progress.pairs.states == {
        "accepted": 4,
        "contested": 1,
        "pending": 0,
        "rejected": 0,
    }
    assert progress.pairs.done == {"anna": 5, "ben": 1}
    assert (progress.joint.total, progress.joint.states["contested"]) == (2, 2)
    for name in ("anna", "ben"):
        say(review, "joint", name, frame_set("b", 9), "bad")
    assert review.progress().joint.states == {"settled": 1, "contested": 1}
    assert review.progress().pairs.states["rejected"] == 3


def test_what_is_reviewed_says_nothing_of_this_machine(review: Review, root: Root) -> None:
    say(review, "pair", "anna", PAIR, "similar")
    for name in root.list("video"):
        assert root.url.encode() not in root.read_bytes(name)
