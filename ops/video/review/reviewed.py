"""What was decided about one mining, to look at."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from ops.storage import Root
from ops.video.review.decisions import Decisions
from ops.video.review.events import Event, record_of
from ops.video.review.items import AnchorItem, PairItem
from ops.video.review.progress import Progress, progress_of


@dataclass
class Reviewed:
    """Mined frame sets, and the decisions about them that are known.

    Attributes
    ----------
    root : Root
    source : str
    mined_version : str
        Of the mining that is reviewed.
    label_space : str
    class_names : tuple of str
        By label.
    anchors : tuple of AnchorItem
        Ascending by frame set.
    pairs : tuple of PairItem
        Ascending by sample key.
    """

    root: Root
    source: str
    mined_version: str
    label_space: str
    class_names: tuple[str, ...]
    anchors: tuple[AnchorItem, ...]
    pairs: tuple[PairItem, ...]

    def __post_init__(self) -> None:
        self._decisions = Decisions(self.anchors, self.pairs)
        self._anchor_of = {item.frame_set: item for item in self.anchors}
        self._pair_of = {item.sample_key: item for item in self.pairs}

    def anchor(self, frame_set: str) -> AnchorItem:
        """An anchor by its frame set; KeyError where there is none."""
        return self._anchor_of[frame_set]

    def pair(self, sample_key: str) -> PairItem:
        """A pair by its neighbour's key; KeyError where there is none."""
        return self._pair_of[sample_key]

    def has_anchor(self, frame_set: str) -> bool:
        """Whether there is such an anchor."""
        return frame_set in self._anchor_of

    def has_pair(self, sample_key: str) -> bool:
        """Whether there is such a pair."""
        return sample_key in self._pair_of

    @property
    def events(self) -> tuple[Event, ...]:
        """All events known, by time; equal times by id."""
        known = self._decisions.votes.events.values()
        return tuple(sorted(known, key=lambda event: (event.at, event.id)))

    @property
    def n_events(self) -> int:
        """Number of events known."""
        return len(self._decisions.votes.events)

    @property
    def events_sha256(self) -> str:
        """Changes with any event; the same whoever recorded them in which file."""
        content = hashlib.sha256()
        for event in sorted(self.events, key=lambda event: event.id):
            content.update(json.dumps(record_of(event), sort_keys=True).encode() + b"\n")
        return content.hexdigest()

    def decisions(self) -> Decisions:
        """What follows from all events known; kept up to date, not a copy."""
        return self._decisions

    def progress(self) -> Progress:
        """How much each reviewer has done, and what is decided."""
        return progress_of(self._decisions, len(self.anchors), len(self.pairs))

    def as_of(self, at: str) -> Reviewed:
        """What was decided up to a time."""
        earlier = Reviewed(
            self.root,
            self.source,
            self.mined_version,
            self.label_space,
            self.class_names,
            self.anchors,
            self.pairs,
        )
        earlier._decisions.add(event for event in self.events if event.at <= at)
        return earlier
