"""Agreement of reviewers on what several judged, and the funnel of the paper's table 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_decisions import accept_all, event, say
from made_mining import frame_set, key, mine_by_hand

from ops.storage import open_root
from ops.video.review import (
    AnchorItem,
    Event,
    Funnel,
    PairItem,
    Review,
    agreement,
    funnel,
)
from ops.video.review.order import is_random_draw
from ops.video.review.reviewed import Reviewed
from ops.video.review.suspicion import by_suspicion


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


def test_objections_are_counted_by_suspicion(tmp_path: Path) -> None:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", {(f"v{n}", 5): (3, 4, 6, 7, 8) for n in range(40)})
    review = Review.open(root, "things")
    assert [band.judged for band in by_suspicion(review)] == [0] * 10
    review.record(
        event(review, "pair", "anna", i.sample_key, "similar" if i.suspicion < 0.8 else "unsure")
        for i in review.pairs
    )
    bands = by_suspicion(review)
    assert [band.judged for band in bands] == [band.pairs for band in bands] == [20] * 10
    assert bands[0].objected == 20
    assert bands[-1].objected == 0
    assert bands[0].highest >= bands[0].lowest >= bands[1].highest
    assert sum(b.objected for b in bands) == sum(i.suspicion >= 0.8 for i in review.pairs)
    drawn = [i for i in review.pairs if is_random_draw(review.mined_version, i.sample_key)]
    assert sum(band.drawn_judged for band in bands) == len(drawn) > 0
    assert sum(b.drawn_objected for b in bands) == sum(i.suspicion >= 0.8 for i in drawn)


@pytest.mark.parametrize(
    ("label_space", "anchors", "pairs", "kept", "similar", "relabelled"),
    [
        ("imagenet_vid30", 1_314, 26_029, 1_109, 21_070, 0),
        ("ytbb24", 2_467, 45_631, 2_030, 36_827, 834),
    ],
)
def test_table_1(
    label_space: str, anchors: int, pairs: int, kept: int, similar: int, relabelled: int
) -> None:
    """Shankar et al., table 1: what was reviewed and what was accepted."""
    sets = [f"v{n:04d}/000010" for n in range(anchors)]
    anchor_items = tuple(AnchorItem(name, f"{name}/000010", (3,), name, "") for name in sets)
    lacking = 20 * anchors - pairs
    pair_items = tuple(
        PairItem(f"{name}/{frame:06d}", name, "", frame - 10, (3,), 0.0, "", 0.0, "")
        for n, name in enumerate(sets)
        for frame in range(20 - lacking // anchors - (n < lacking % anchors))
    )
    root = open_root("nothing is read or written")
    review = Reviewed(root, "things", "v", label_space, (), anchor_items, pair_items)
    good = set(sets[:kept])
    judged = [item.sample_key for item in pair_items if item.frame_set in good]
    said = [
        ("anchor", name, "usable" if n < kept else "bad", (0,) if n < relabelled else ())
        for n, name in enumerate(sets)
    ]
    said += [("pair", name, "similar", ()) for name in judged[:similar]]
    said += [(kind, key, "unsure", ()) for kind in ("pair", "joint") for key in judged[similar:]]
    review.decisions().add(
        Event(
            id=f"{n:08x}",
            kind=kind,
            reviewer="anna",
            mined_version="v",
            subject=subject,
            verdict=verdict,
            labels=labels,
        )
        for n, (kind, subject, verdict, labels) in enumerate(said)
    )
    found = funnel(review)
    assert [row[:3] for row in found.rows()] == [
        ("anchors", anchors, kept),
        ("pairs", pairs, similar),
        ("labels updated", kept, relabelled),
    ]
    shares = [f"{share:.0%}" for _, _, _, share in found.rows()]
    assert shares == (["82%", "81%", "41%"] if relabelled else ["84%", "81%", "0%"])
    assert (found.anchors_undecided, found.pairs_undecided) == (0, 0)
