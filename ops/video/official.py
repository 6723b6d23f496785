"""The frame sets of both published video benchmarks, read from their own annotation files.

The files are given by path: nothing of them comes with this project.
"""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.errors import ShiftlakeError
from ops.video.frame_set import FrameSet
from ops.video.published import (
    initial_labels,
    last_flags,
    tail,
    vid_robust_sets,
    ytbb_robust_sets,
)

# The largest published one has a few million bytes.
_MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class Counts:
    """How large a collection of frame sets is.

    Attributes
    ----------
    sets : int
        Anchors.
    pairs : int
        Neighbours; the published totals count these alone.
    frames : int
        Both.
    empty : int
        Sets without a neighbour.
    folders : int
        Of the anchors: snippets, or moments of videos.
    by_labels : mapping of int to int
        Number of labels -> anchors that have as many.
    """

    sets: int
    pairs: int
    frames: int
    empty: int
    folders: int
    by_labels: Mapping[int, int]


def read_pmsets(pmsets_path: str | Path, labels_path: str | Path) -> tuple[FrameSet, ...]:
    """Read the frame sets of ImageNet-Vid-Robust.

    Parameters
    ----------
    pmsets_path : str or Path
        ``metadata/pmsets.json`` of the archive.
    labels_path : str or Path
        ``metadata/labels.json`` of the archive.

    Returns
    -------
    tuple of FrameSet
        1,109 of them, with 21,070 neighbours, in the published files. A key is
        ``val/<snippet>/<frame, 6 digits>.JPEG``; every frame has labels of its own.

    Raises
    ------
    ShiftlakeError
        If a file is missing, not JSON or of another shape, a frame has no labels, or is in two
        sets.
    """
    where = f"{Path(pmsets_path).name}, {Path(labels_path).name}"
    return vid_robust_sets(_json(Path(pmsets_path)), _json(Path(labels_path)), where)


def read_ytbb(
    anchor_labels_path: str | Path, pmk_labels_path: str | Path, anchors_csv_path: str | Path
) -> tuple[FrameSet, ...]:
    """Read the frame sets of YTBB-Robust.

    Parameters
    ----------
    anchor_labels_path : str or Path
        ``anchor_labels.json``: what annotators said of anchors.
    pmk_labels_path : str or Path
        ``pmk_labels.json``: what they said of pairs.
    anchors_csv_path : str or Path
        ``ytbb_robustness_test_anchors_full.csv``: the class of every anchor.

    Returns
    -------
    tuple of FrameSet
        2,030 of them, with 36,827 neighbours, by the published files (Shankar et al., table 1).
        A key is ``<YouTube id>_<milliseconds>/frame-<n>.jpg``; neighbours have the anchor's
        labels.

    Raises
    ------
    ShiftlakeError
        If a file is missing or of another shape, an accepted anchor has no class, or a frame is
        in two sets.
    """
    where = f"{Path(anchor_labels_path).name}, {Path(pmk_labels_path).name}"
    anchors = last_flags(_json(Path(anchor_labels_path)), Path(anchor_labels_path).name, where)
    pairs = last_flags(_json(Path(pmk_labels_path)), Path(pmk_labels_path).name, where)
    lines = _text(Path(anchors_csv_path)).splitlines()
    initial = initial_labels(csv.reader(lines), Path(anchors_csv_path).name)
    return ytbb_robust_sets(anchors, pairs, initial, where)


def counts(sets: Sequence[FrameSet]) -> Counts:
    """Count frame sets, as table 1 of Shankar et al. does, and more."""
    pairs = sum(len(each.neighbours) for each in sets)
    labels = Counter(len(each.labels[each.anchor]) for each in sets)
    return Counts(
        sets=len(sets),
        pairs=pairs,
        frames=len(sets) + pairs,
        empty=sum(not each.neighbours for each in sets),
        folders=len({tail(each.anchor).split("/")[0] for each in sets}),
        by_labels=dict(sorted(labels.items())),
    )


def _json(path: Path) -> Any:
    text = _text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        found = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise _unread(path, "JSON", found) from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _MOST_BYTES:
                raise _unread(path, f"at most {_MOST_BYTES:,} bytes", f"{size:,}")
            data = file.read(_MOST_BYTES)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise _unread(path, "a file", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unread(path, "text in UTF-8", str(error)) from error


def _unread(path: Path, expected: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "A published annotation file cannot be read.",
        expected=expected,
        found=found,
        where=str(path),
        remedy="give the path of the file as it was published",
    )
