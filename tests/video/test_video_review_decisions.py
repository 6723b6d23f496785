"""From votes to decisions: who counts, what is contested, and when half is not enough."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.video.review import AnchorItem, Event, PairItem, decide
from ops.video.review.decisions import Decisions
from ops.video.review.states import labels_of

CLIPS = ("a", "b")
ANCHORS = tuple(AnchorItem(f"{c}/000005", f"{c}/000005/000005", (3,), c, c) for c in CLIPS)
PAIRS = tuple(
    PairItem(f"{c}/000005/{n:06d}", f"{c}/000005", f"{c}/000005/000005", n - 5, (3, 4), 0, "", 0, c)
    for c in CLIPS
    for n in (4, 6, 7)
)
ANCHOR, PAIR, OTHER = "a/000005", "a/000005/000006", "a/000005/000007"

_ids = iter(range(10**9))


def vote(kind: str, reviewer: str, subject: str, verdict: str | None, at: int = 0, **more: Any):
    return Event.model_validate(
        {
            "id": f"{next(_ids):032x}",
            "kind": kind,
            "reviewer": reviewer,
            "at": f"2024-01-01T00:00:00.{at:06d}Z",
            "mined_version": "v",
            "subject": subject,
            "verdict": verdict,
            **more,
        }
    )


def pair_of(*events: Event) -> tuple[str, str]:
    decision = decide(ANCHORS, PAIRS, events).pair(PAIR)
    return decision.state, decision.why


def anchor_of(*events: Event) -> str:
    return decide(ANCHORS, PAIRS, events).anchor(ANCHOR).state


def joint(**verdicts: str) -> list[Event]:
    return [vote("joint", name, PAIR, verdict) for name, verdict in verdicts.items()]


def first_pass(**verdicts: str) -> list[Event]:
    return [vote("pair", name, PAIR, verdict) for name, verdict in verdicts.items()]


def test_nothing_is_decided_before_somebody_looks() -> None:
    assert pair_of() == ("pending", "")
    assert anchor_of() == "pending"


def test_similar_needs_no_second_look_and_anything_else_does() -> None:
    assert pair_of(*first_pass(anna="similar")) == ("accepted", "similar")
    assert pair_of(*first_pass(anna="similar", ben="similar")) == ("accepted", "similar")
    for verdict in ("dissimilar", "wrong_label", "unsure"):
        assert pair_of(*first_pass(anna="similar", ben=verdict)) == ("contested", verdict)
        assert pair_of(*first_pass(anna=verdict)) == ("contested", verdict)


@pytest.mark.parametrize(
    ("similar", "of", "state"),
    [(2, 4, "rejected"), (3, 4, "accepted"), (1, 2, "rejected"), (2, 3, "accepted"),
     (1, 3, "rejected"), (1, 1, "accepted"), (0, 1, "rejected"), (4, 4, "accepted")],
)  # fmt: skip
def test_a_pair_stands_only_with_a_strict_majority(similar: int, of: int, state: str) -> None:
    names = [f"r{n}" for n in range(of)]
    before = first_pass(**dict.fromkeys(names, "dissimilar"))
    votes = {name: "similar" if n < similar else "dissimilar" for n, name in enumerate(names)}
    assert pair_of(*before, *joint(**votes))[0] == state


def test_joint_review_waits_for_votes_that_could_still_decide() -> None:
    before = first_pass(anna="similar", ben="dissimilar", cleo="similar", dan="similar")
    assert pair_of(*before, *joint(anna="similar", ben="similar"))[0] == "contested"
    assert pair_of(*before, *joint(anna="similar", ben="similar", cleo="similar"))[0] == "accepted"
    assert pair_of(*before, *joint(anna="similar", ben="dissimilar"))[0] == "contested"
    assert pair_of(*before, *joint(anna="dissimilar", ben="dissimilar"))[0] == "rejected"


def test_who_reviewed_other_pairs_has_a_say_in_the_joint_review() -> None:
    before = first_pass(anna="dissimilar")
    assert pair_of(*before, *joint(anna="similar"))[0] == "accepted"
    elsewhere = vote("pair", "ben", OTHER, "similar")
    assert pair_of(*before, elsewhere, *joint(anna="similar"))[0] == "contested"
    assert pair_of(*before, elsewhere, *joint(anna="similar", ben="similar"))[0] == "accepted"
    assert pair_of(*before, elsewhere, *joint(anna="similar", ben="unsure"))[0] == "rejected"


def test_who_comes_to_the_joint_review_only_counts_as_well() -> None:
    votes = joint(anna="similar", guest="dissimilar")
    assert pair_of(*first_pass(anna="unsure"), *votes) == ("rejected", "dissimilar")


def test_the_newest_verdict_of_a_reviewer_counts() -> None:
    old, new = vote("pair", "anna", PAIR, "dissimilar", 1), vote("pair", "anna", PAIR, "similar", 2)
    assert pair_of(old, new) == pair_of(new, old) == ("accepted", "similar")
    one, two = vote("pair", "anna", PAIR, "similar", 1), vote("pair", "anna", PAIR, "unsure", 1)
    assert one.id < two.id
    assert pair_of(one, two) == pair_of(two, one) == ("contested", "unsure")


def test_a_withdrawn_verdict_gives_way_to_the_one_before() -> None:
    old, new = vote("pair", "anna", PAIR, "similar", 1), vote("pair", "anna", PAIR, "dissimilar", 2)
    undo = vote("undo", "anna", new.id, None, 3)
    for events in ((old, new, undo), (undo, new, old), (new, undo, old)):
        assert pair_of(*events) == ("accepted", "similar")
    assert pair_of(new, undo) == ("pending", "")


def test_nobody_withdraws_what_others_decided() -> None:
    made = vote("pair", "anna", PAIR, "similar")
    assert pair_of(made, vote("undo", "ben", made.id, None)) == ("accepted", "similar")


def test_who_entered_a_joint_vote_can_withdraw_it() -> None:
    before = first_pass(anna="dissimilar", ben="similar")
    votes = [vote("joint", name, PAIR, "similar", recorded_by="anna") for name in ("anna", "ben")]
    assert pair_of(*before, *votes)[0] == "accepted"
    assert pair_of(*before, *votes, vote("undo", "anna", votes[1].id, None))[0] == "contested"


def test_an_anchor_is_usable_or_bad_if_all_agree_and_else_is_settled_jointly() -> None:
    def said(**verdicts: str) -> list[Event]:
        return [vote("anchor", name, ANCHOR, verdict) for name, verdict in verdicts.items()]

    assert anchor_of(*said(anna="usable", ben="usable")) == "usable"
    assert anchor_of(*said(anna="bad", ben="bad")) == "bad"
    assert anchor_of(*said(anna="usable", ben="bad")) == "contested"
    assert anchor_of(*said(anna="unsure")) == "contested"
    torn = said(anna="usable", ben="bad", cleo="usable")
    settled = [vote("joint", name, ANCHOR, "usable") for name in ("anna", "cleo")]
    assert anchor_of(*torn, *settled) == "usable"
    assert anchor_of(*said(anna="usable", ben="bad"), settled[0]) == "contested"
    against = [vote("joint", "anna", ANCHOR, "usable"), vote("joint", "ben", ANCHOR, "bad")]
    assert anchor_of(*said(anna="usable", ben="bad"), *against) == "bad"


def test_a_bad_anchor_rejects_its_pairs_until_it_is_bad_no_more() -> None:
    similar = first_pass(anna="similar")
    bad = vote("anchor", "anna", ANCHOR, "bad", 1)
    assert pair_of(*similar, bad) == ("rejected", "bad_anchor")
    decisions = decide(ANCHORS, PAIRS, [*similar, bad])
    assert decisions.pair("a/000005/000004").state == "rejected"
    assert decisions.pair("b/000005/000004").state == "pending"
    assert pair_of(*similar, bad, vote("undo", "anna", bad.id, None)) == ("accepted", "similar")
    again = vote("anchor", "anna", ANCHOR, "usable", 2)
    assert pair_of(*similar, bad, again) == ("accepted", "similar")


def test_a_pair_is_in_the_set_only_with_its_anchor() -> None:
    similar = first_pass(anna="similar")
    usable = vote("anchor", "anna", ANCHOR, "usable")
    assert decide(ANCHORS, PAIRS, similar).stands(PAIR) is None
    assert decide(ANCHORS, PAIRS, [usable]).stands(PAIR) is None
    assert decide(ANCHORS, PAIRS, [*similar, usable]).stands(PAIR) is True
    bad = vote("anchor", "anna", ANCHOR, "bad", 1)
    assert decide(ANCHORS, PAIRS, [*similar, usable, bad]).stands(PAIR) is False


def test_labels_that_anyone_added_to_a_usable_anchor_go_to_all_its_frames() -> None:
    events = [
        vote("anchor", "anna", ANCHOR, "usable", labels=[9]),
        vote("anchor", "ben", ANCHOR, "usable", labels=[1, 9]),
        vote("anchor", "cleo", ANCHOR, "usable"),
    ]
    decision = decide(ANCHORS, PAIRS, events).anchor(ANCHOR)
    assert decision.labels == (1, 9)
    assert labels_of(ANCHORS[0], decision) == (1, 3, 9)
    assert labels_of(PAIRS[0], decision) == (1, 3, 4, 9)
    undo = vote("undo", "ben", events[1].id, None)
    assert decide(ANCHORS, PAIRS, [*events, undo]).anchor(ANCHOR).labels == (9,)
    bad = [vote("anchor", "dan", ANCHOR, "bad")]
    assert decide(ANCHORS, PAIRS, [*events, *bad]).anchor(ANCHOR).labels == ()


def test_reasons_of_all_objections_are_kept_in_the_order_of_the_paper() -> None:
    events = [
        vote("pair", "anna", PAIR, "dissimilar", reasons=["other", "blur"]),
        vote("pair", "ben", PAIR, "dissimilar", reasons=["motion"]),
    ]
    assert decide(ANCHORS, PAIRS, events).pair(PAIR).reasons == ("motion", "blur", "other")


def test_events_about_what_was_never_mined_decide_nothing() -> None:
    events = [
        vote("pair", "anna", "nowhere/000001/000002", "similar"),
        vote("anchor", "anna", PAIR, "bad"),
        vote("pair", "anna", ANCHOR, "similar"),
        vote("joint", "anna", PAIR, "usable"),
        vote("joint", "anna", ANCHOR, "similar"),
        vote("undo", "anna", "f" * 32, None),
    ]
    decisions = decide(ANCHORS, PAIRS, events)
    assert decisions.votes.n_unknown == 5
    assert decisions.pair_states()["pending"] == len(PAIRS)
    assert decisions.anchor_states()["pending"] == len(ANCHORS)


def test_two_events_with_one_id_are_one_whichever_comes_first() -> None:
    one = vote("pair", "anna", PAIR, "similar", 1)
    two = vote("pair", "anna", PAIR, "dissimilar", 2).model_copy(update={"id": one.id})
    assert pair_of(one, two) == pair_of(two, one) == pair_of(one) == ("accepted", "similar")


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    subjects = [item.frame_set for item in ANCHORS] + [item.sample_key for item in PAIRS]
    events: list[Event] = []
    for number in range(draw(st.integers(0, 25))):
        name = draw(st.sampled_from(["anna", "ben", "cleo"]))
        subject = draw(st.sampled_from(subjects))
        is_pair = subject.count("/") == 2
        kind = draw(st.sampled_from(["pair" if is_pair else "anchor", "joint", "undo"]))
        told: dict[str, Any] = {"at": draw(st.integers(0, 3))}
        if kind == "undo":
            if not events:
                continue
            subject, verdict = draw(st.sampled_from(events)).id, None
        elif is_pair:
            verdict = draw(st.sampled_from(["similar", "dissimilar", "unsure"]))
        else:
            verdict = draw(st.sampled_from(["usable", "bad", "unsure"]))
            told["labels"] = [number] if verdict == "usable" else []
        made = vote(kind, name, subject, verdict, **told)
        if events and draw(st.integers(0, 9)) == 0:
            made = made.model_copy(update={"id": draw(st.sampled_from(events)).id})
        events.append(made)
    return events


def everything(decisions: Decisions) -> list[Any]:
    return [
        *(decisions.anchor(item.frame_set) for item in ANCHORS),
        *(decisions.pair(item.sample_key) for item in PAIRS),
        decisions.contested(),
        decisions.anchor_states(),
        decisions.pair_states(),
        decisions.n_settled(),
        [decisions.votes.done(kind) for kind in ("anchor", "pair", "joint")],
    ]


@settings(max_examples=80, deadline=None)
@given(histories(), st.randoms(use_true_random=False), st.integers(1, 5))
def test_decisions_follow_from_the_set_of_events_alone(events, random, size) -> None:
    expected = everything(decide(ANCHORS, PAIRS, events))
    shuffled = list(events)
    random.shuffle(shuffled)
    assert everything(decide(ANCHORS, PAIRS, shuffled)) == expected
    # One after another, in parts, and some of them twice.
    growing = Decisions(ANCHORS, PAIRS)
    for start in range(0, len(shuffled), size):
        growing.add(shuffled[start : start + size])
        growing.add(shuffled[:start:3])
    assert everything(growing) == expected
