"""A frozen review can be cited: same decisions, same version; and what it seals is what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from made_decisions import accept_all, say
from made_mining import frame_set, key, mine_by_hand

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.shards.reader import read_shard, verify
from ops.storage import Root, open_root
from ops.video.review import (
    Review,
    carry,
    freeze,
    frozen_versions,
    read_frozen,
    seal_reviewed,
)
from ops.video.review.checks import check_reviewed
from ops.video.review.refused import OlderMining

SETS = {("a", 5): (4, 6), ("b", 9): (8, 10, 11), ("c", 0): ()}
CATALOG = load()


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    mine_by_hand(root, "things", SETS, labels={key("b", 9, 10): (3, 7)})
    return root


@pytest.fixture
def review(root: Root) -> Review:
    review = Review.open(root, "things")
    accept_all(review, "anna")
    say(review, "anchor", "ben", frame_set("a", 5), "usable", labels=[1])
    say(review, "pair", "ben", key("b", 9, 8), "dissimilar", reasons=["blur"])
    say(review, "joint", "anna", key("b", 9, 8), "similar")
    say(review, "joint", "ben", key("b", 9, 8), "dissimilar", reasons=["motion", "blur"])
    return review


def sealed(root: Root) -> dict[str, dict]:
    manifest = read_manifest(root, "reviewed_frame_sets/things")
    samples = [s for entry in manifest.shards for s in read_shard(root, manifest, entry, hash=True)]
    assert all(sample.image is None and sample.cls is None for sample in samples)
    return {sample.key: sample.meta for sample in samples}


def test_what_is_accepted_is_sealed_with_its_labels(review: Review, root: Root) -> None:
    frozen = freeze(root, "things", CATALOG)
    manifest = seal_reviewed(root, CATALOG, "things")
    found = sealed(root)
    assert {name: meta["labels"] for name, meta in found.items()} == {
        key("a", 5, 4): [1, 3],
        key("a", 5, 5): [1, 3],
        key("a", 5, 6): [1, 3],
        key("b", 9, 9): [3],
        key("b", 9, 10): [3, 7],
        key("b", 9, 11): [3],
        key("c", 0, 0): [3],
    }
    meta = found[key("b", 9, 11)]
    assert (meta["frame_set"], meta["frame_offset"], meta["state"]) == ("b/000009", 2, "accepted")
    assert (meta["benchmark"], meta["condition"]) == ("reviewed_frame_sets", "things")
    assert meta["source_key"] == "b"
    assert manifest.joined_to == "frame_sets/things"
    assert manifest.parameters == {
        "mined_version": review.mined_version,
        "frozen_version": frozen.version,
    }
    assert manifest.synthetic
    assert verify(root, manifest.name, hash=True).problems == ()
    assert check_reviewed(root, CATALOG, "things") == []


def test_the_seal_says_who_and_how_much(review: Review, root: Root) -> None:
    frozen = freeze(root, "things", CATALOG)
    assert frozen == read_frozen(root, "things", frozen.version)
    assert frozen.reviewers == ("anna", "ben")
    assert (frozen.n_events, frozen.events_sha256) == (review.n_events, review.events_sha256)
    assert (frozen.funnel.anchors_accepted, frozen.funnel.pairs_accepted) == (3, 4)
    assert frozen.created == review.events[-1].at
    assert any(kappa.raters == 2 for kappa in frozen.agreement.kappas)
    text = root.read_bytes(f"video/things/frozen/{frozen.version}/freeze.json").decode()
    assert root.url not in text
    assert json.loads(text)["version"] == frozen.version


def test_the_version_follows_from_the_decisions_alone(review: Review, root: Root) -> None:
    first = freeze(root, "things", CATALOG)
    stored = root.read_bytes(f"video/things/frozen/{first.version}/freeze.json")
    assert freeze(root, "things", CATALOG) == first
    assert root.read_bytes(f"video/things/frozen/{first.version}/freeze.json") == stored
    say(review, "pair", "ben", key("a", 5, 4), "similar")
    assert freeze(root, "things", CATALOG).version == first.version, "one more of the same mind"
    made = say(review, "anchor", "anna", frame_set("c", 0), "bad")
    second = freeze(root, "things", CATALOG)
    assert second.version != first.version
    assert frozen_versions(root, "things") == [first.version, second.version]
    say(review, "undo", "anna", made.id, None)
    assert freeze(root, "things", CATALOG).version == first.version
    assert frozen_versions(root, "things") == [second.version, first.version], "the newest is last"


def test_sealing_again_changes_nothing(review: Review, root: Root) -> None:
    freeze(root, "things", CATALOG)
    one = seal_reviewed(root, CATALOG, "things")
    before = {name: root.read_bytes(name) for name in root.list("shards/reviewed_frame_sets")}
    say(review, "pair", "ben", key("a", 5, 4), "similar")
    freeze(root, "things", CATALOG)
    assert seal_reviewed(root, CATALOG, "things") == one
    after = {name: root.read_bytes(name) for name in root.list("shards/reviewed_frame_sets")}
    assert after == before


def test_an_earlier_frozen_review_can_be_sealed_by_its_version(review: Review, root: Root) -> None:
    first = freeze(root, "things", CATALOG)
    say(review, "anchor", "anna", frame_set("c", 0), "bad")
    freeze(root, "things", CATALOG)
    assert seal_reviewed(root, CATALOG, "things").n_samples == 6
    assert seal_reviewed(root, CATALOG, "things", first.version).n_samples == 7
    assert check_reviewed(root, CATALOG, "things") == []
    assert len(root.list("shards/reviewed_frame_sets/things")) == 2, "the other shards are gone"


def test_what_is_undecided_is_not_frozen_unless_asked_for(root: Root) -> None:
    with pytest.raises(ShiftlakeError, match="has not begun") as caught:
        freeze(root, "things", CATALOG, allow_pending=True)
    assert "--allow-pending" not in caught.value.remedy
    review = Review.open(root, "things")
    say(review, "anchor", "anna", frame_set("a", 5), "usable")
    say(review, "pair", "anna", key("a", 5, 4), "similar")
    say(review, "pair", "anna", key("a", 5, 6), "unsure")
    with pytest.raises(ShiftlakeError, match="not finished") as caught:
        freeze(root, "things", CATALOG)
    assert "2 anchors and 4 pairs undecided, 1 of these contested" in caught.value.found
    assert f"first {key('a', 5, 6)}" in caught.value.found
    freeze(root, "things", CATALOG, allow_pending=True)
    assert seal_reviewed(root, CATALOG, "things").n_samples == 2
    assert sorted(sealed(root)) == [key("a", 5, 4), key("a", 5, 5)]
    assert check_reviewed(root, CATALOG, "things") == []


def test_a_set_that_nobody_accepts_is_not_sealed(root: Root) -> None:
    review = Review.open(root, "things")
    for clip, anchor in SETS:
        say(review, "anchor", "anna", frame_set(clip, anchor), "bad")
    freeze(root, "things", CATALOG)
    with pytest.raises(ShiftlakeError, match="accepts nothing"):
        seal_reviewed(root, CATALOG, "things")


def test_nothing_to_seal_before_it_is_frozen(review: Review, root: Root) -> None:
    with pytest.raises(ShiftlakeError, match="No review of things is frozen") as caught:
        seal_reviewed(root, CATALOG, "things")
    assert "shiftlake reviews freeze things" in caught.value.remedy
    with pytest.raises(ShiftlakeError, match="no frozen review feed"):
        seal_reviewed(root, CATALOG, "things", "feed")


def test_a_review_frozen_over_an_older_mining_is_refused(review: Review, root: Root) -> None:
    old = review.mined_version
    freeze(root, "things", CATALOG)
    mine_by_hand(root, "things", SETS, labels={key("b", 9, 10): (3, 7)}, salt="again")
    with pytest.raises(OlderMining, match=old) as caught:
        seal_reviewed(root, CATALOG, "things")
    assert f"shiftlake reviews carry things {old}" in caught.value.remedy
    carry(root, "things", old)
    again = freeze(root, "things", CATALOG)
    assert seal_reviewed(root, CATALOG, "things").parameters["frozen_version"] == again.version


def test_what_is_carried_over_and_frozen_again_is_the_newest(review: Review, root: Root) -> None:
    """Though the newest decision, about a picture that is another now, is left behind."""
    say(review, "anchor", "anna", frame_set("c", 0), "usable")
    old, first = review.mined_version, freeze(root, "things", CATALOG)
    mine_by_hand(root, "things", SETS, pictures={key("c", 0, 0): "decoded anew"})
    carry(root, "things", old)
    again = freeze(root, "things", CATALOG, allow_pending=True)
    assert again.created < first.created
    assert frozen_versions(root, "things") == [first.version, again.version]
    assert seal_reviewed(root, CATALOG, "things").parameters["frozen_version"] == again.version


def test_a_review_frozen_after_an_import_of_older_decisions_is_the_newest(
    review: Review, root: Root
) -> None:
    for day in range(1, 9):
        subject, verdict = frame_set("c", 0), ("usable", "bad")[day % 2]
        before = freeze(root, "things", CATALOG, allow_pending=True)
        say(review, "joint", "cleo", subject, verdict, at=f"2001-01-0{day}T00:00:00Z")
        say(review, "anchor", "cleo", subject, verdict, at=f"2001-01-0{day}T00:00:00Z")
        after = freeze(root, "things", CATALOG, allow_pending=True)
        assert (after.created, frozen_versions(root, "things")[-1]) == (
            before.created,
            after.version,
        )


def test_decisions_that_were_lost_after_freezing_are_missed(review: Review, root: Root) -> None:
    freeze(root, "things", CATALOG)
    seal_reviewed(root, CATALOG, "things")
    (name,) = root.list("video/things/reviews")
    root.write_bytes(name, b"".join(root.read_bytes(name).splitlines(keepends=True)[:-1]))
    (problem,) = check_reviewed(root, CATALOG, "things")
    assert problem == "11 decisions are there of the 12 that were frozen"


def test_what_was_tampered_with_is_found(review: Review, root: Root) -> None:
    frozen = freeze(root, "things", CATALOG)
    name = f"video/things/frozen/{frozen.version}/decisions.parquet"
    good = root.read_bytes(name)
    root.write_bytes(name, good[:-1] + b"\0")
    with pytest.raises(ShiftlakeError, match="frozen review is damaged"):
        seal_reviewed(root, CATALOG, "things")
    root.remove(name)
    with pytest.raises(ShiftlakeError, match="frozen review is damaged"):
        seal_reviewed(root, CATALOG, "things")
    root.write_bytes(name, good)
    seal_reviewed(root, CATALOG, "things")
    seal = f"video/things/frozen/{frozen.version}/freeze.json"
    root.write_bytes(seal, b'{"version": 3}')
    with pytest.raises(ShiftlakeError, match="frozen review is damaged"):
        frozen_versions(root, "things")


def test_decisions_that_do_not_follow_from_the_events_are_found(
    review: Review, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The name in the package is the function.
    module = sys.modules["ops.video.review.freeze"]
    rows = module.decision_rows

    def forged(review: Review) -> list[dict]:
        found = rows(review)
        pair = next(row for row in found if row["state"] == "rejected")
        pair.update(state="accepted", why="similar")
        return found

    monkeypatch.setattr(module, "decision_rows", forged)
    freeze(root, "things", CATALOG)
    monkeypatch.undo()
    seal_reviewed(root, CATALOG, "things")
    say(review, "pair", "ben", key("a", 5, 4), "similar")
    (problem,) = check_reviewed(root, CATALOG, "things")
    assert problem.startswith(f"{key('b', 9, 8)}: frozen as accepted")


def test_sets_never_straddle_shards(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["ops.video.review.seal"], "_PER_SHARD", 4)
    accept_all(Review.open(root, "things"), "anna")
    freeze(root, "things", CATALOG)
    manifest = seal_reviewed(root, CATALOG, "things")
    assert [entry.n_samples for entry in manifest.shards] == [3, 4, 1]
