"""Taking decisions over from an older mining, about frames that are the same."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ops.errors import ShiftlakeError
from ops.storage import Root, paths
from ops.storage.journal import Journal
from ops.storage.stamp import folders_in
from ops.video.review.events import Event
from ops.video.review.imported import derived_id
from ops.video.review.items import AnchorItem, PairItem
from ops.video.review.review import Review

if TYPE_CHECKING:
    from ops.catalog import Catalog

# What somebody saw: the pictures, and the classes they were said to show.
Seen = tuple[tuple[str, tuple[int, ...]], ...]


class Carried(BaseModel):
    """What was taken over from an older mining.

    Attributes
    ----------
    recorded : int
        Decisions that were recorded for the new mining.
    known : int
        Decisions that had been taken over before.
    changed : int
        Decisions left behind: their frames or labels are others now, or are gone.
    """

    model_config = ConfigDict(frozen=True)

    recorded: int
    known: int
    changed: int


def carry(root: Root, source: str, from_version: str, catalog: Catalog | None = None) -> Carried:
    """Take over what was decided on an older mining.

    A verdict stands for what was seen: it is taken over where the frame, for a pair both frames,
    have the same sha256 and the same labels as before. Reviewer and time stay; withdrawn decisions
    are left behind. Doing it again adds nothing.

    Parameters
    ----------
    root : Root
    source : str
    from_version : str
        Of the older mining, whose tables and decisions are still there.
    catalog : Catalog, optional

    Returns
    -------
    Carried

    Raises
    ------
    ShiftlakeError
        If there is no such mining, it is the sealed one, or none is sealed.
    """
    old = Review.open(root, source, catalog, from_version)
    new = Review.open(root, source, catalog)
    if old.mined_version == new.mined_version:
        raise ShiftlakeError(
            f"The mining {from_version} of {source} is the sealed one, not an older one.",
            expected="an older mining",
            found=from_version,
            where=root.at(paths.minings(source)),
            remedy="nothing is to be done: what was decided about it counts",
        )
    subjects: defaultdict[Seen, list[str]] = defaultdict(list)
    for subject, seen in _seen(new).items():
        subjects[seen].append(subject)
    before = _seen(old)
    votes = old.decisions().votes
    events: list[Event] = []
    changed = 0
    for event in old.events:
        if event.kind == "undo" or votes.is_withdrawn(event) or event.subject not in before:
            continue
        same = subjects.get(before[event.subject], [])
        if not same:
            changed += 1
            continue
        # Of pictures that are the same bit for bit in several places the one of that name.
        subject = event.subject if event.subject in same else same[0]
        update = {
            "id": derived_id(new.mined_version, event.id),
            "mined_version": new.mined_version,
            "subject": subject,
        }
        events.append(event.model_copy(update=update))
    known = new.decisions().votes.events
    fresh = [event for event in events if event.id not in known]
    new.record(fresh)
    return Carried(recorded=len(fresh), known=len(events) - len(fresh), changed=changed)


def older_minings(root: Root, source: str, sealed: str) -> dict[str, int]:
    """Minings of a source that were decided on and are no longer the sealed one.

    Parameters
    ----------
    root : Root
    source : str
    sealed : str
        Version of the sealed mining.

    Returns
    -------
    dict of str to int
        Version -> how many events there are, most first; only those whose tables are there.
    """
    there = set(folders_in(root, paths.minings(source))) - {sealed}
    found = {
        version: len(Journal(root, paths.review_events(source, version)).read())
        for version in folders_in(root, paths.reviews(source))
        if version in there
    }
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def _seen(review: Review) -> dict[str, Seen]:
    """What there is to see of every subject, by frame set and by sample key."""
    found: dict[str, Seen] = {}
    for anchor in review.anchors:
        found[anchor.frame_set] = (_picture(anchor),)
    for pair in review.pairs:
        found[pair.sample_key] = (_picture(review.anchor(pair.frame_set)), _picture(pair))
    return found


def _picture(item: AnchorItem | PairItem) -> tuple[str, tuple[int, ...]]:
    return (item.sha256, item.labels)
