"""Agreement of reviewers on what several judged, and the funnel of the paper's table 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from mined_by_hand import frame_set, key, mine_by_hand
from reviewing import accept_all, event, say

from ops.storage import open_root
from ops.video.review import Funnel, Review, agreement, funnel

# Fleiss (1971), table 1 again, its first four categories and the last as the verdicts of a pair.
# The numbers are those of four categories: the other one is put to the last.
VERDICTS = ("similar", "dissimilar", "wrong_label", "unsure")


@pytest.fixture
def review(tmp_path: Path) -> Review:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", {("a", 5): (3, 4, 6, 7), ("b", 5): (3, 4, 6, 7)})
    return Review.open(root, "things")


def kappa_of(review: Review, stage: str, question: str, raters: int):
    (found,) = [
        kappa
        for kappa in agreement(review).kappas
        if (kappa.stage, kappa.question, kappa.raters) == (stage, question, raters)
    ]
    return found


def test_kappa_of_verdicts_is_over_items_with_as_many_raters(review: Review) -> None:
    keys = [item.sample_key for item in review.pairs]
    said = ["similar similar", "similar dissimilar", "dissimilar dissimilar", "similar similar"]
    for name, column in (("anna", 0), ("ben", 1)):
        for pair, verdicts in zip(keys, said, strict=False):
            say(review, "pair", name, pair, verdicts.split()[column])
    say(review, "pair", "anna", keys[4], "unsure")
    for name in ("anna", "ben", "cleo"):
        say(review, "pair", name, keys[5], "similar")
    two = kappa_of(review, "pairs", "verdict", 2)
    # P = 3/4, p = 5/8 and 3/8, so P_e = 34/64 and kappa = (48 - 34) / (64 - 34).
    assert (two.items, two.observed, two.expected) == (4, 0.75, pytest.approx(34 / 64))
    assert two.kappa == pytest.approx(14 / 30)
    assert kappa_of(review, "pairs", "verdict: similar", 2).kappa == pytest.approx(14 / 30)
    three = kappa_of(review, "pairs", "verdict", 3)
    assert (three.items, three.observed, three.kappa) == (1, 1.0, None)


def test_kappa_of_a_reason_is_whether_it_was_given(review: Review) -> None:
    given = [("motion", "motion"), ("motion", "blur"), ("blur", ""), ("", "")]
    for item, reasons in zip(review.pairs, given, strict=False):
        for name, reason in zip(("anna", "ben"), reasons, strict=True):
            verdict = "dissimilar" if reason else "similar"
            say(review, "pair", name, item.sample_key, verdict, reasons=[reason] if reason else [])
    motion = kappa_of(review, "pairs", "reason: motion", 2)
    # Given 2, 1, 0, 0 of 2 times: P = 3/4, p = 3/8.
    assert motion.kappa == pytest.approx(14 / 30)
    blur = kappa_of(review, "pairs", "reason: blur", 2)
    # 0, 1, 1, 0: P = 1/2, p = 1/4, P_e = 5/8.
    assert blur.kappa == pytest.approx((1 / 2 - 5 / 8) / (3 / 8))
    questions = {kappa.question for kappa in agreement(review).kappas}
    assert "reason: background" not in questions


def test_joint_votes_and_withdrawn_ones_say_nothing_about_agreement(review: Review) -> None:
    pair = review.pairs[0].sample_key
    say(review, "pair", "anna", pair, "similar")
    say(review, "pair", "ben", pair, "dissimilar")
    say(review, "joint", "ben", pair, "similar")
    assert kappa_of(review, "pairs", "verdict", 2).observed == 0
    review.undo("ben")
    review.undo("ben")
    assert [kappa for kappa in agreement(review).kappas if kappa.stage == "pairs"] == []


def test_each_reviewer_stands_to_what_most_others_say(review: Review) -> None:
    keys = [item.sample_key for item in review.pairs[:3]]
    said = {
        "anna": ("similar", "similar", "dissimilar"),
        "ben": ("similar", "similar", "similar"),
        "cleo": ("similar", "dissimilar", "dissimilar"),
        "dan": ("similar", "dissimilar", "unsure"),
    }
    for name, verdicts in said.items():
        for at, (pair, verdict) in enumerate(zip(keys, verdicts, strict=True)):
            say(review, "pair", name, pair, verdict, ms_spent=1_000 * (at + 1))
    found = {each.reviewer: each for each in agreement(review).reviewers}
    anna = found["anna"]
    assert (anna.judged, anna.accepted, anna.seconds) == (3, pytest.approx(2 / 3), 2.0)
    # The second pair: of the three others two say dissimilar. The third: they differ.
    assert (anna.compared, anna.agrees) == (2, 0.5)
    ben = found["ben"]
    assert (ben.compared, ben.agrees) == (3, pytest.approx(1 / 3))
    alone = [each for each in agreement(review).reviewers if each.stage == "anchors"]
    assert alone == []


def test_a_review_by_one_person_has_no_agreement(review: Review) -> None:
    accept_all(review, "anna")
    found = agreement(review)
    assert found.kappas == ()
    assert [(each.stage, each.agrees) for each in found.reviewers] == [
        ("anchors", None),
        ("pairs", None),
    ]


def test_the_funnel_counts_pairs_of_bad_anchors_as_reviewed_and_rejected(review: Review) -> None:
    assert funnel(review).pairs_undecided == 8
    say(review, "anchor", "anna", frame_set("a", 5), "bad")
    say(review, "anchor", "anna", frame_set("b", 5), "usable", labels=[7, 8])
    say(review, "pair", "anna", key("b", 5, 4), "similar")
    say(review, "pair", "anna", key("b", 5, 6), "unsure")
    assert funnel(review) == Funnel(
        anchors_mined=2,
        anchors_reviewed=2,
        anchors_accepted=1,
        pairs_mined=8,
        pairs_reviewed=6,
        pairs_accepted=1,
        anchors_relabelled=1,
        labels_added=2,
        anchors_undecided=0,
        pairs_undecided=3,
    )


def published_shape(
    pairs: int, anchors: int, bad: int, accepted: int, label_space: str, path: Path
):
    """Mine `anchors` sets with `pairs` neighbours in all, and review them to `accepted` pairs."""
    lacking = 20 * anchors - pairs
    sets = {
        (f"v{n:04d}", 10): [f for f in range(21) if f != 10][: 20 - (1 if n < lacking else 0)]
        for n in range(anchors)
    }
    if lacking > anchors:
        raise AssertionError("no more than one neighbour less a set")
    root = open_root(path)
    mine_by_hand(root, "things", sets, label_space=label_space)
    review = Review.open(root, "things")
    events = [
        event(
            review,
            "anchor",
            "anna",
            item.frame_set,
            "bad" if n >= anchors - bad else "usable",
            **({"labels": [0]} if n < 834 and label_space == "ytbb24" else {}),
        )
        for n, item in enumerate(review.anchors)
    ]
    good = {item.frame_set for item in review.anchors[: anchors - bad]}
    judged = [item for item in review.pairs if item.frame_set in good]
    for n, item in enumerate(judged):
        verdict = "similar" if n < accepted else "dissimilar"
        events.append(event(review, "pair", "anna", item.sample_key, verdict))
        if verdict != "similar":
            events.append(event(review, "joint", "anna", item.sample_key, verdict))
    review.record(events)
    return review


def test_table_1_of_imagenet_vid_robust(tmp_path: Path) -> None:
    review = published_shape(26_029, 1_314, 205, 21_070, "imagenet_vid30", tmp_path / "lake")
    found = funnel(review)
    assert found.rows()[:2] == [
        ("anchors", 1_314, 1_109, pytest.approx(0.84, abs=0.005)),
        ("pairs", 26_029, 21_070, pytest.approx(0.81, abs=0.005)),
    ]
    assert (found.anchors_undecided, found.pairs_undecided) == (0, 0)
