"""The rules by which the published annotation files of both video benchmarks make frame sets.

Here: from the content of the files to frame sets, whatever the files came out of. The frames
themselves are named as the annotations name them, by the last two parts of their paths.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.video.frame_set import FrameSet

NEGATIVE = frozenset(
    [
        *("dissimilar", "problematic", "incorrect", "dont know", "deformation"),
        *("background-change", "occlusion-increased", "blur-increase", "bad-anchor"),
    ]
)
"""Flags of a pair, each of which keeps it out though it were called similar."""
# The table of anchors numbers car 22 and none 23; the class index has them the other way round.
_SWAPPED = {22: 23, 23: 22}


def tail(path: str) -> str:
    """The last two parts of a path: ``<video>/<file name>``."""
    return "/".join(path.strip().split("/")[-2:])


def frame_number(path: str) -> int:
    """Number of a frame in its video: the last digits of its name; 0 where it has none."""
    # At most as many as a number of 64 bits has: a name may be made of nothing else.
    digits = re.search(r"(\d{1,18})\D*$", PurePosixPath(path).stem)
    return int(digits[1]) if digits else 0


def video_of(benchmark: str, source_key: str) -> str:
    """The video that a frame is of.

    Parameters
    ----------
    benchmark : str
    source_key : str
        Of its sample. Those of YTBB-Robust name an anchor, ``<video>_<milliseconds>``, and up to
        seven anchors are of one video.
    """
    return re.sub("_[0-9]+$", "", source_key) if benchmark == "ytbb_robust" else source_key


def vid_robust_sets(pmsets: object, labels: object, where: str) -> tuple[FrameSet, ...]:
    """Frame sets of ImageNet-Vid-Robust; each frame has labels of its own.

    Parameters
    ----------
    pmsets : object
        Content of ``pmsets.json``: path of an anchor -> paths of its neighbours.
    labels : object
        Content of ``labels.json``: path of a frame -> its labels, 0 to 29.
    where : str
        For errors.

    Returns
    -------
    tuple of FrameSet
        In the order of the file; neighbours by the number of their frame.

    Raises
    ------
    ShiftlakeError
        If one is not of this shape, a frame has no labels, or is in two sets.
    """
    count = len(classes.video("imagenet_vid30").names)
    known: dict[str, tuple[int, ...]] = {}
    for path, given in _mapping(labels, "labels.json", where).items():
        if not isinstance(given, list) or not all(_index(each, count) for each in given):
            expected = f"a list of labels, 0 to {count - 1}"
            raise _odd("labels.json", expected, f"{path}: {given!r:.80}", where)
        known[path] = tuple(given)
    found = []
    for anchor, given in _mapping(pmsets, "pmsets.json", where).items():
        if "/" not in anchor.strip("/"):
            raise _odd("pmsets.json", "paths as <folder>/<frame>", f"{anchor!r:.80}", where)
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise _odd("pmsets.json", "a list of paths", f"{anchor}: {given!r:.80}", where)
        neighbours = sorted(given, key=frame_number)
        lacking = [path for path in (anchor, *neighbours) if path not in known]
        if lacking:
            raise _odd("labels.json", "labels of every frame", f"none of {lacking[0]}", where)
        wanted = {path: known[path] for path in (anchor, *neighbours)}
        found.append(FrameSet(anchor, tuple(neighbours), wanted))
    return distinct(found, where)


def ytbb_robust_sets(
    anchors: Mapping[str, frozenset[str]],
    pairs: Mapping[str, frozenset[str]],
    initial: Mapping[str, int],
    where: str,
) -> tuple[FrameSet, ...]:
    """Frame sets of YTBB-Robust, out of what annotators said of anchors and of pairs.

    An anchor counts if it is good, and neither bad nor unsure, and no pair of it says
    ``bad-anchor``; a pair if it is similar and carries no negative flag. Neighbours take the
    anchor's labels: the class of the table and what annotators added.

    Parameters
    ----------
    anchors, pairs : mapping of str to frozenset of str
        As :func:`last_flags` gives them.
    initial : mapping of str to int
        As :func:`initial_labels` gives them.
    where : str
        For errors.

    Returns
    -------
    tuple of FrameSet
        In the order in which the anchors were annotated first; neighbours by number.

    Raises
    ------
    ShiftlakeError
        If an anchor that counts is not in the table, or a frame is in two sets.
    """
    positions = {name: at for at, name in enumerate(classes.video("ytbb24").names)}
    judged: dict[str, dict[str, frozenset[str]]] = {}
    for key, flags in pairs.items():
        anchor, _, neighbour = key.partition(",")
        judged.setdefault(anchor, {})[neighbour] = flags
    found = []
    for anchor, flags in anchors.items():
        others = judged.get(anchor, {})
        bad = any("bad-anchor" in said for said in others.values())
        if "good" not in flags or flags & {"bad", "unsure"} or bad:
            continue
        segment = anchor.split("/")[0]
        if segment not in initial:
            expected = "a row for every anchor that counts"
            raise _odd("the table of anchors", expected, f"none of {segment}", where)
        added = {positions[flag] for flag in flags if flag in positions}
        labels = tuple(sorted(added | {initial[segment]}))
        similar = [
            path for path, said in others.items() if "similar" in said and not said & NEGATIVE
        ]
        neighbours = sorted(similar, key=lambda path: (frame_number(path), path))
        wanted = dict.fromkeys((anchor, *neighbours), labels)
        found.append(FrameSet(anchor, tuple(neighbours), wanted))
    return distinct(found, where)


def last_flags(store: object, file: str, where: str) -> dict[str, frozenset[str]]:
    """What was said of each key of a label store of YTBB-Robust; the last entry of a key wins.

    Parameters
    ----------
    store : object
        ``{"labels": [names], "annotations": [{"key": paths, "labels": [positions]}]}``.
    file, where : str
        For errors.

    Returns
    -------
    dict of str to frozenset of str
        Of every path in a key the last two parts stay: on an annotator's machine it may have been
        absolute.
    """
    top = _mapping(store, file, where)
    names, entries = top.get("labels"), top.get("annotations")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _odd(file, "a list of names under labels", f"{names!r:.80}", where)
    if not isinstance(entries, list):
        raise _odd(file, "a list under annotations", f"{entries!r:.80}", where)
    found: dict[str, frozenset[str]] = {}
    for number, entry in enumerate(entries, 1):
        key = entry.get("key") if isinstance(entry, dict) else None
        said = entry.get("labels") if isinstance(entry, dict) else None
        if (
            not isinstance(key, str)
            or not isinstance(said, list)
            or not all(_index(position, len(names)) for position in said)
        ):
            expected = f"a key, and positions among the {len(names)} labels"
            raise _odd(f"{file}, annotation {number}", expected, f"{entry!r:.80}", where)
        flags = frozenset(names[position] for position in said)
        found[",".join(tail(path) for path in key.split(","))] = flags
    return found


def initial_labels(rows: Iterable[Sequence[str]], where: str) -> dict[str, int]:
    """Class of every anchor in the table of Gu et al., by ``<YouTube id>_<milliseconds>``.

    In the table 22 is car and 23 is none; here they are as in the class index.

    Parameters
    ----------
    rows : iterable of sequence of str
        YouTube id, time in milliseconds, class; rows of another shape, as its head, are passed
        over.
    where : str
        For errors.
    """
    count = len(classes.video("ytbb24").names)
    found: dict[str, int] = {}
    for line, row in enumerate(_rows(rows, where), 1):
        if len(row) != 3 or not (row[1].isascii() and row[1].isdigit()):
            continue
        text = row[2].strip()
        if not (text.isascii() and text.isdigit() and int(text[:9]) < count):
            expected = f"a class, 0 to {count - 1}"
            raise _odd(f"the table of anchors, line {line}", expected, f"{text!r:.80}", where)
        found[f"{row[0]}_{row[1]}"] = _SWAPPED.get(int(text), int(text))
    if not found:
        expected = "rows of a YouTube id, a time in milliseconds and a class"
        raise _odd("the table of anchors", expected, "none", where)
    return found


def _rows(rows: Iterable[Sequence[str]], where: str) -> Iterator[Sequence[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise _odd("the table of anchors", "CSV", str(error), where) from error


def distinct(sets: Sequence[FrameSet], where: str) -> tuple[FrameSet, ...]:
    """The sets, once it is sure that no frame belongs to two of them.

    Raises
    ------
    ShiftlakeError
        If one does.
    """
    owner: dict[str, str] = {}
    for each in sets:
        for path in (each.anchor, *each.neighbours):
            if tail(path) in owner:
                raise ShiftlakeError(
                    "A frame belongs to two frame sets.",
                    expected="each frame in one set, once",
                    found=f"{owner[tail(path)]} and {each.anchor}",
                    where=f"{where}: {path}",
                    remedy="check the annotation files",
                )
            owner[tail(path)] = each.anchor
    return tuple(sets)


def _mapping(value: object, file: str, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _odd(file, "a JSON object", type(value).__name__, where)
    return value


def _index(value: object, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _odd(file: str, expected: str, found: str, where: str) -> ShiftlakeError:
    return ShiftlakeError(
        "A published annotation file is not what it should be.",
        expected=f"{file}: {expected}",
        found=found,
        where=where,
        remedy="fetch the annotation files again; they may not belong together",
    )
