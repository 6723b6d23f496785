"""Published annotation files become decisions, and decisions become such files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_decisions import accept_all, say
from made_mining import frame_set, key, mine_by_hand

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.video.official import read_pmsets, read_ytbb
from ops.video.review import (
    Review,
    export_pmsets,
    export_ytbb,
    freeze,
    import_pmsets,
    import_ytbb,
    seal_reviewed,
)

SNIPPETS = ("ILSVRC2015_val_00000000", "ILSVRC2017_val_00042000")
YTBB = classes.video("ytbb24").names
# One clip for a segment, one for a whole video.
SEGMENT, VIDEO = "aB_-x678901_12000", "cD-_5678901"


@pytest.fixture
def vid(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    sets = {(SNIPPETS[0], 442): (441, 443, 444), (SNIPPETS[1], 0): (1, 2)}
    mine_by_hand(root, "vid", sets, labels={key(SNIPPETS[0], 442, 443): (3, 9)})
    return root


@pytest.fixture
def ytbb(tmp_path: Path) -> Root:
    root = open_root(tmp_path / "lake")
    sets = {(SEGMENT, 360): (358, 359, 361, 362), (VIDEO, 25): (24, 26), ("gone_1", 3): (2,)}
    mine_by_hand(root, "ytbb", sets, label_space="ytbb24")
    return root


def path(snippet: str, frame: int) -> str:
    return f"val/{snippet}/{frame:06d}.JPEG"


def write(folder: Path, **contents: Any) -> list[Path]:
    found = []
    for name, content in contents.items():
        target = folder / f"{name}.json"
        target.write_text(json.dumps(content))
        found.append(target)
    return found


def vid_files(folder: Path) -> list[Path]:
    one, two = SNIPPETS
    pmsets = {path(one, 442): [path(one, 441), path(one, 443)], path(two, 0): []}
    labels = {path(one, 442): [3, 20], path(one, 441): [3], path(one, 443): [3, 9]}
    return write(folder, pmsets=pmsets, labels={**labels, path(two, 0): [3]})


def test_pmsets_become_decisions_once(vid: Root, tmp_path: Path) -> None:
    files = vid_files(tmp_path)
    assert import_pmsets(vid, "vid", None, *files).recorded == 4
    again = import_pmsets(vid, "vid", None, *files)
    assert (again.recorded, again.known, again.left) == (0, 4, ())
    review = Review.open(vid, "vid")
    assert review.n_events == 4
    decisions = review.decisions()
    assert decisions.anchor(frame_set(SNIPPETS[0], 442)).labels == (20,)
    assert decisions.stands(key(SNIPPETS[0], 442, 443))
    assert decisions.pair(key(SNIPPETS[0], 442, 444)).state == "pending", "the file does not say"
    assert decisions.anchor(frame_set(SNIPPETS[1], 0)).state == "usable", "a set of its own"


def test_decisions_become_pmsets_and_back(vid: Root, tmp_path: Path) -> None:
    import_pmsets(vid, "vid", None, *vid_files(tmp_path))
    pmsets, labels = export_pmsets(Review.open(vid, "vid"))
    one = SNIPPETS[0]
    assert pmsets == {
        path(one, 442): [path(one, 441), path(one, 443)],
        path(SNIPPETS[1], 0): [],
    }
    # A class that was added to the anchor is one of all its frames.
    assert labels[path(one, 443)] == [3, 9, 20]
    assert list(labels) == sorted(labels)
    out = tmp_path / "out"
    out.mkdir()
    sets = read_pmsets(*write(out, pmsets=pmsets, labels=labels))
    assert [len(each.neighbours) for each in sets] == [2, 0]


def test_what_was_not_mined_is_named(vid: Root, tmp_path: Path) -> None:
    one = SNIPPETS[0]
    pmsets = {path(one, 442): [path(one, 441), path(one, 430)], path("elsewhere", 1): []}
    names = [path(one, 442), path(one, 441), path(one, 430), path("elsewhere", 1)]
    files = write(tmp_path, pmsets=pmsets, labels={name: [3] for name in names})
    found = import_pmsets(vid, "vid", None, *files, reviewer="authors")
    assert found.recorded == 2
    assert found.left == (path(one, 430), path("elsewhere", 1))
    assert Review.open(vid, "vid").decisions().votes.done("pair") == {"authors": 1}


def test_a_decision_that_comes_back_counts_again(vid: Root, tmp_path: Path) -> None:
    files = vid_files(tmp_path)
    import_pmsets(vid, "vid", None, *files)
    pair = key(SNIPPETS[0], 442, 443)
    say(Review.open(vid, "vid"), "pair", "official", pair, "unsure")
    assert import_pmsets(vid, "vid", None, *files).recorded == 1
    assert Review.open(vid, "vid").decisions().stands(pair)
    assert import_pmsets(vid, "vid", None, *files).recorded == 0


def test_what_was_withdrawn_is_not_imported_again(vid: Root, tmp_path: Path) -> None:
    files = vid_files(tmp_path)
    import_pmsets(vid, "vid", None, *files)
    withdrawn = Review.open(vid, "vid").undo("official")
    assert withdrawn is not None
    assert import_pmsets(vid, "vid", None, *files).recorded == 0


WORDS = ["good", "unsure", "bad", *YTBB]
PAIR_WORDS = [
    "similar", "dissimilar", "correct", "problematic", "incorrect", "dont know", "deformation",
    "background-change", "occlusion-increased", "blur-increase", "bad-anchor",
]  # fmt: skip


def store(vocabulary: list[str], said: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "labels": vocabulary,
        "annotations": [
            {
                "key": name,
                "labels": [vocabulary.index(word) for word in words.split("+") if word],
                "notes": "",
            }
            for name, words in said
        ],
    }


def frame(segment: str, number: int, folder: str = "ytbb_videos") -> str:
    return f"{folder}/{segment}/frame-{number}.jpg"


def ytbb_files(folder: Path, anchors, pairs) -> list[Path]:
    return write(folder, anchor_labels=store(WORDS, anchors), pmk_labels=store(PAIR_WORDS, pairs))


@pytest.mark.parametrize(
    ("words", "state", "why", "reasons"),
    [
        ("similar", "accepted", "similar", ()),
        ("similar+correct", "accepted", "similar", ()),
        ("dissimilar", "rejected", "dissimilar", ()),
        ("similar+dissimilar", "rejected", "dissimilar", ()),
        ("similar+deformation", "rejected", "dissimilar", ("motion",)),
        ("dissimilar+background-change+blur-increase", "rejected", "dissimilar",
         ("background", "blur")),
        ("occlusion-increased", "rejected", "dissimilar", ("other",)),
        ("similar+incorrect", "rejected", "wrong_label", ()),
        ("problematic", "rejected", "unsure", ()),
        ("similar+dont know", "rejected", "unsure", ()),
        ("correct", "pending", "", ()),
        ("", "pending", "", ()),
    ],
)  # fmt: skip
def test_the_words_of_the_annotators(
    ytbb: Root, tmp_path: Path, words: str, state: str, why: str, reasons: tuple
) -> None:
    both = f"{frame(SEGMENT, 360)},{frame(SEGMENT, 361)}"
    files = ytbb_files(tmp_path, [(frame(SEGMENT, 360), "good")], [(both, words)])
    import_ytbb(ytbb, "ytbb", None, *files)
    decision = Review.open(ytbb, "ytbb").decisions().pair(key(SEGMENT, 360, 361))
    assert (decision.state, decision.why, decision.reasons) == (state, why, reasons)


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("good", "usable"),
        ("good+person", "usable"),
        ("bad", "bad"),
        ("good+bad", "bad"),
        ("unsure", "bad"),
        ("good+unsure", "bad"),
        ("", "pending"),
        ("person", "pending"),
    ],
)
def test_an_anchor_counts_if_it_is_good_and_nothing_else(
    ytbb: Root, tmp_path: Path, words: str, state: str
) -> None:
    files = ytbb_files(tmp_path, [(frame(SEGMENT, 360), words)], [])
    import_ytbb(ytbb, "ytbb", None, *files)
    assert Review.open(ytbb, "ytbb").decisions().anchor(frame_set(SEGMENT, 360)).state == state


ANCHORS = [
    (frame(SEGMENT, 360, "/home/someone/data"), "bad"),
    (frame(SEGMENT, 360, "/mnt/else where"), "good+person+car"),
    # A clip of the whole video: the segment is named by its time as well.
    (frame(f"{VIDEO}_7000", 25), "good"),
    (frame("gone_1", 3), "good"),
    (frame("never_mined_5", 3), "good"),
]
PAIRS = [
    (f"{frame(SEGMENT, 360)},{frame(SEGMENT, 359, '/x')}", "dissimilar"),
    (f"{frame(SEGMENT, 360, '/y')},{frame(SEGMENT, 359)}", "similar"),
    (f"{frame(SEGMENT, 360)},{frame(SEGMENT, 361)}", "similar+blur-increase"),
    (f"{frame(SEGMENT, 360)},{frame(SEGMENT, 362)}", "similar+correct"),
    (f"{frame(SEGMENT, 360)},{frame(SEGMENT, 358)}", "incorrect"),
    (f"{frame(f'{VIDEO}_7000', 25)},{frame(f'{VIDEO}_7000', 24)}", "similar"),
    (f"{frame(f'{VIDEO}_7000', 25)},{frame(f'{VIDEO}_7000', 26)}", "dissimilar"),
    (f"{frame('gone_1', 3)},{frame('gone_1', 2)}", "bad-anchor"),
]


def test_a_store_of_annotations_becomes_decisions_once(ytbb: Root, tmp_path: Path) -> None:
    files = ytbb_files(tmp_path, ANCHORS, PAIRS)
    first = import_ytbb(ytbb, "ytbb", None, *files)
    assert first.left == ("never_mined_5/frame-3.jpg",)
    again = import_ytbb(ytbb, "ytbb", None, *files)
    assert (again.recorded, again.known) == (0, first.recorded)
    decisions = Review.open(ytbb, "ytbb").decisions()
    anchor = decisions.anchor(frame_set(SEGMENT, 360))
    assert anchor.state == "usable", "the last entry of a key wins"
    assert [YTBB[label] for label in anchor.labels] == ["person", "car"]
    assert anchor.labels == (0, 23), "car is 23 and none 22 in the class index"
    stands = {frame: decisions.stands(key(SEGMENT, 360, frame)) for frame in (358, 359, 361, 362)}
    assert stands == {358: False, 359: True, 361: False, 362: True}
    assert decisions.stands(key(VIDEO, 25, 24))
    assert decisions.anchor(frame_set("gone_1", 3)).state == "bad"
    assert decisions.contested() == []


def test_the_table_of_anchors_has_car_and_none_the_other_way_round(
    ytbb: Root, tmp_path: Path
) -> None:
    files = ytbb_files(tmp_path, ANCHORS, PAIRS)
    table = tmp_path / "anchors.csv"
    table.write_text(f"{SEGMENT.replace('_12000', '')},12000,22\n{VIDEO},7000,23\ngone,1,3\n")
    import_ytbb(ytbb, "ytbb", None, *files, table)
    decisions = Review.open(ytbb, "ytbb").decisions()
    assert decisions.anchor(frame_set(SEGMENT, 360)).labels == (0, 23)
    assert decisions.anchor(frame_set(VIDEO, 25)).labels == (22,)


def test_decisions_become_stores_that_say_the_same(ytbb: Root, tmp_path: Path) -> None:
    import_ytbb(ytbb, "ytbb", None, *ytbb_files(tmp_path, ANCHORS, PAIRS))
    review = Review.open(ytbb, "ytbb")
    out = tmp_path / "out"
    out.mkdir()
    anchors, pairs = export_ytbb(review)
    files = write(out, anchor_labels=anchors, pmk_labels=pairs)
    table = tmp_path / "anchors.csv"
    table.write_text(f"{SEGMENT.replace('_12000', '')},12000,3\n{VIDEO},833,3\ngone,1,3\n")
    sets = read_ytbb(*files, table)
    found = {each.anchor: (each.neighbours, each.labels[each.anchor]) for each in sets}
    assert found == {
        f"{SEGMENT}/frame-360.jpg": (
            (f"{SEGMENT}/frame-359.jpg", f"{SEGMENT}/frame-362.jpg"),
            (0, 3, 23),
        ),
        # The clip is the whole video; its segment is named by the time of the anchor.
        f"{VIDEO}_833/frame-25.jpg": ((f"{VIDEO}_833/frame-24.jpg",), (3,)),
    }
    # Into a lake where nobody has reviewed yet, they bring the same decisions.
    other = open_root(tmp_path / "other")
    sets_ = {(SEGMENT, 360): (358, 359, 361, 362), (VIDEO, 25): (24, 26), ("gone_1", 3): (2,)}
    mine_by_hand(other, "ytbb", sets_, label_space="ytbb24")
    import_ytbb(other, "ytbb", None, *files)
    again = Review.open(other, "ytbb").decisions()
    for item in review.pairs:
        assert again.stands(item.sample_key) == review.decisions().stands(item.sample_key)
        assert again.pair(item.sample_key) == review.decisions().pair(item.sample_key)
    for anchor in review.anchors:
        ours = review.decisions().anchor(anchor.frame_set)
        assert again.anchor(anchor.frame_set).labels == ours.labels


def test_what_was_imported_can_be_frozen_and_sealed(ytbb: Root, tmp_path: Path) -> None:
    from ops.catalog import load

    import_ytbb(ytbb, "ytbb", None, *ytbb_files(tmp_path, ANCHORS, PAIRS))
    frozen = freeze(ytbb, "ytbb", load())
    assert frozen.reviewers == ("official",)
    assert seal_reviewed(ytbb, load(), "ytbb").n_samples == 5


def test_reasons_go_out_in_their_words(ytbb: Root) -> None:
    review = Review.open(ytbb, "ytbb")
    accept_all(review, "anna")
    pair = key(SEGMENT, 360, 361)
    reasons = ["motion", "distinctive", "other"]
    say(review, "pair", "anna", pair, "dissimilar", reasons=reasons)
    say(review, "joint", "anna", pair, "dissimilar", reasons=reasons)
    _, pairs = export_ytbb(review)
    (entry,) = [each for each in pairs["annotations"] if "frame-361" in each["key"]]
    assert [pairs["labels"][position] for position in entry["labels"]] == [
        "correct",
        "dissimilar",
        "deformation",
    ]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"labels": 3}', "[" * 100_000])
def test_a_file_that_is_none_is_refused(ytbb: Root, tmp_path: Path, content: str) -> None:
    files = ytbb_files(tmp_path, ANCHORS, PAIRS)
    files[1].write_text(content)
    with pytest.raises(ShiftlakeError):
        import_ytbb(ytbb, "ytbb", None, *files)
    files[1].unlink()
    with pytest.raises(ShiftlakeError):
        import_ytbb(ytbb, "ytbb", None, *files)
    assert Review.open(ytbb, "ytbb").n_events == 0


def test_a_class_of_another_label_space_is_refused(vid: Root, tmp_path: Path) -> None:
    said = [(frame(SNIPPETS[0], 442), "good+person")]
    with pytest.raises(ShiftlakeError, match="names a class"):
        import_ytbb(vid, "vid", None, *ytbb_files(tmp_path, said, []))
