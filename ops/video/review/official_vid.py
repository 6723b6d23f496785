"""A review as ``pmsets.json`` and ``labels.json`` of ImageNet-Vid-Robust, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ops.storage import Root
from ops.video.official import read_pmsets
from ops.video.review.events import Event, require_reviewer
from ops.video.review.imported import Imported, decided, record_decided
from ops.video.review.official_names import OfficialNames, vid_path
from ops.video.review.review import Review
from ops.video.review.reviewed import Reviewed
from ops.video.review.states import labels_of

if TYPE_CHECKING:
    from ops.catalog import Catalog


def import_pmsets(
    root: Root,
    source: str,
    catalog: Catalog | None,
    pmsets_path: str | Path,
    labels_path: str | Path,
    reviewer: str = "official",
) -> Imported:
    """Record what published frame sets say: these anchors are usable, these pairs similar.

    Of other frames they say nothing, neither that they were rejected nor that they were not looked
    at; what was mined beside them stays pending. Labels of an anchor beside those mined are added.

    Parameters
    ----------
    root : Root
    source : str
    catalog : Catalog, optional
    pmsets_path, labels_path : str or Path
        The two files.
    reviewer : str
        Whose decisions they become.

    Returns
    -------
    Imported

    Raises
    ------
    ShiftlakeError
        If the files are not what they should be, or the source is not mined.
    """
    review, name = Review.open(root, source, catalog), require_reviewer(reviewer)
    sets, names = read_pmsets(pmsets_path, labels_path), OfficialNames(review)
    left: list[str] = []

    def events() -> Iterator[Event | None]:
        for each in sets:
            frame_set = names.anchor(each.anchor)
            if frame_set is None:
                left.append(each.anchor)
                continue
            mined = review.anchor(frame_set).labels
            added = tuple(sorted(set(each.labels[each.anchor]) - set(mined)))
            yield decided(review, "anchor", name, frame_set, "usable", labels=added)
            for neighbour in each.neighbours:
                key = names.pair(each.anchor, neighbour)
                if key is None:
                    left.append(neighbour)
                else:
                    yield decided(review, "pair", name, key, "similar")

    found = list(events())
    return record_decided(review, found, left)


def export_pmsets(review: Reviewed) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """The accepted frame sets in the published form.

    Returns
    -------
    pmsets : dict of str to list of str
        Path of each usable anchor -> paths of its accepted neighbours, by frame.
    labels : dict of str to list of int
        Labels of every frame in it.
    """
    decisions = review.decisions()
    pmsets: dict[str, list[str]] = {}
    labels: dict[str, list[int]] = {}
    for item in review.anchors:
        decision = decisions.anchor(item.frame_set)
        if decision.state == "usable":
            pmsets[vid_path(item.sample_key)] = []
            labels[vid_path(item.sample_key)] = list(labels_of(item, decision))
    for pair in review.pairs:
        if decisions.stands(pair.sample_key):
            path = vid_path(pair.sample_key)
            pmsets[vid_path(pair.anchor)].append(path)
            labels[path] = list(labels_of(pair, decisions.anchor(pair.frame_set)))
    return pmsets, dict(sorted(labels.items()))
