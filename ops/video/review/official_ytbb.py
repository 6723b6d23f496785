"""A review as the label stores of YTBB-Robust, ``anchor_labels.json`` and ``pmk_labels.json``.

Words of theirs that the review has no word for: an occlusion is the reason ``other``, a
deformation ``motion``; a problematic frame and ``dont know`` are ``unsure``, ``incorrect`` is
``wrong_label``. An objection alone keeps a pair out, as in the published scores, also beside
``similar``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.storage import Root
from ops.video.published import initial_labels, last_flags, tail
from ops.video.review.decisions import Decisions
from ops.video.review.events import REASONS, Event, Reason, require_reviewer
from ops.video.review.imported import Imported, decided, record_decided
from ops.video.review.official_names import OfficialNames, read_json_file, ytbb_path
from ops.video.review.review import Review
from ops.video.review.reviewed import Reviewed

if TYPE_CHECKING:
    from ops.catalog import Catalog

ANCHOR_WORDS = ("good", "unsure", "bad")
PAIR_WORDS = (
    "correct",
    "problematic",
    "incorrect",
    "dont know",
    "similar",
    "dissimilar",
    "deformation",
    "background-change",
    "occlusion-increased",
    "blur-increase",
    "bad-anchor",
)
_REASON_OF: dict[str, Reason] = {
    "deformation": "motion",
    "background-change": "background",
    "blur-increase": "blur",
    "occlusion-increased": "other",
}
_WORD_OF = {reason: word for word, reason in _REASON_OF.items() if reason != "other"}
# A pair that somebody called more than one of these is the first.
_VERDICT_OF = {
    "incorrect": "wrong_label",
    "dissimilar": "dissimilar",
    **dict.fromkeys(_REASON_OF, "dissimilar"),
    "problematic": "unsure",
    "dont know": "unsure",
}


def import_ytbb(
    root: Root,
    source: str,
    catalog: Catalog | None,
    anchor_labels_path: str | Path,
    pmk_labels_path: str | Path,
    anchors_csv_path: str | Path | None = None,
    reviewer: str = "official",
) -> Imported:
    """Record what annotators of YTBB-Robust said; the last annotation of a key wins.

    What they rejected in the end is recorded as settled by the joint review, by one reviewer.

    Parameters
    ----------
    root : Root
    source : str
    catalog : Catalog, optional
    anchor_labels_path, pmk_labels_path : str or Path
        The two label stores. Paths in them may have any folder in front.
    anchors_csv_path : str or Path, optional
        The table of anchors, whose class is added to anchors that were mined without it. In it
        22 is car and 23 is none; in the class index it is the other way round.
    reviewer : str
        Whose decisions they become.

    Returns
    -------
    Imported
        An annotation without any word, and what was not mined, is left.

    Raises
    ------
    ShiftlakeError
        If the files are not what they should be, or the source is not mined.
    """
    review, name = Review.open(root, source, catalog), require_reviewer(reviewer)
    names = OfficialNames(review)
    where = f"{Path(anchor_labels_path).name}, {Path(pmk_labels_path).name}"
    anchors = last_flags(read_json_file(anchor_labels_path), "anchor_labels.json", where)
    pairs = last_flags(read_json_file(pmk_labels_path), "pmk_labels.json", where)
    initial = {} if anchors_csv_path is None else _initial(Path(anchors_csv_path))
    bad = {key.split(",")[0] for key, words in pairs.items() if "bad-anchor" in words}
    left: list[str] = []

    def events() -> Iterator[Event | None]:
        for path in sorted({*anchors, *bad}):
            words = anchors.get(path, frozenset())
            frame_set, verdict = names.anchor(path), _anchor_verdict(words, path in bad)
            if frame_set is None or verdict is None:
                left.append(path)
                continue
            labels: tuple[int, ...] = ()
            if verdict == "usable":
                given = _labels(review, words, initial.get(tail(path).split("/")[0]))
                labels = tuple(sorted(given - set(review.anchor(frame_set).labels)))
            yield decided(review, "anchor", name, frame_set, verdict, labels=labels)
            if verdict == "unsure":
                yield decided(review, "joint", name, frame_set, verdict)
        for path, words in sorted(pairs.items()):
            anchor, _, neighbour = path.partition(",")
            key, verdict = names.pair(anchor, neighbour), _pair_verdict(words)
            if key is None or verdict is None:
                if words != {"bad-anchor"}:
                    left.append(path)
                continue
            given_reasons = {_REASON_OF[word] for word in words if word in _REASON_OF}
            reasons = tuple(reason for reason in REASONS if reason in given_reasons)
            more = {"reasons": reasons if verdict == "dissimilar" else ()}
            yield decided(review, "pair", name, key, verdict, **more)
            if verdict != "similar":
                yield decided(review, "joint", name, key, verdict, **more)

    found = list(events())
    return record_decided(review, found, left)


def export_ytbb(review: Reviewed) -> tuple[dict[str, Any], dict[str, Any]]:
    """The decisions of a review in the published form.

    Returns
    -------
    anchor_labels, pmk_labels : dict
        An annotation for every anchor and every pair that is decided or contested. Read by the
        published rules they give the accepted frame sets; the labels of an anchor are those that
        were added.
    """
    decisions = review.decisions()
    vocabulary = (*ANCHOR_WORDS, *review.class_names)
    anchor_entries = []
    for item in review.anchors:
        decision = decisions.anchor(item.frame_set)
        word = {"usable": "good", "bad": "bad", "contested": "unsure"}.get(decision.state)
        if word is not None:
            said = [word, *(review.class_names[label] for label in decision.labels)]
            anchor_entries.append(_entry(ytbb_path(item.sample_key, item), said, vocabulary))
    pair_entries = []
    for pair in review.pairs:
        words = _pair_words(decisions, pair.sample_key)
        if words:
            anchor = review.anchor(pair.frame_set)
            paths = (ytbb_path(key, anchor) for key in (pair.anchor, pair.sample_key))
            key = ",".join(paths)
            pair_entries.append(_entry(key, words, PAIR_WORDS))
    return (
        {"labels": list(vocabulary), "annotations": anchor_entries},
        {"labels": list(PAIR_WORDS), "annotations": pair_entries},
    )


def _anchor_verdict(words: frozenset[str], bad: bool) -> str | None:
    if bad or "bad" in words:
        return "bad"
    if "unsure" in words:
        return "unsure"
    return "usable" if "good" in words else None


def _pair_verdict(words: frozenset[str]) -> str | None:
    found = next((verdict for word, verdict in _VERDICT_OF.items() if word in words), None)
    return found or ("similar" if "similar" in words else None)


def _pair_words(decisions: Decisions, key: str) -> list[str]:
    decision = decisions.pair(key)
    if decision.state == "pending":
        return []
    words = {
        "similar": ["correct", "similar"],
        "dissimilar": ["correct", "dissimilar"],
        "wrong_label": ["incorrect"],
        "unsure": ["dont know"],
        "bad_anchor": ["bad-anchor"],
    }[decision.why]
    return words + [_WORD_OF[reason] for reason in decision.reasons if reason in _WORD_OF]


def _labels(review: Review, words: frozenset[str], initial: int | None) -> set[int]:
    known = {name: label for label, name in enumerate(review.class_names)}
    strange = sorted(words - known.keys() - set(ANCHOR_WORDS))
    if strange:
        raise ShiftlakeError(
            "An annotation names a class that the mined frames do not know.",
            expected=f"a class of {review.label_space}",
            found=strange[0],
            where="anchor_labels.json",
            remedy="import it into a source of the label space ytbb24",
        )
    return {known[word] for word in words if word in known} | (
        set() if initial is None else {initial}
    )


def _initial(path: Path) -> Mapping[str, int]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ShiftlakeError(
            "The table of anchors cannot be read.",
            expected="a CSV of a YouTube id, a time in milliseconds and a class",
            found=str(error),
            where=path.name,
            remedy="give the path of the file as it was published",
        ) from error
    return initial_labels(csv.reader(lines), path.name)


def _entry(key: str, said: list[str], vocabulary: tuple[str, ...]) -> dict[str, Any]:
    positions = sorted({vocabulary.index(word) for word in said})
    return {"key": key, "labels": positions, "notes": ""}
