"""A review of one mining: what there is to decide, what was decided, and recording more."""

from __future__ import annotations

import uuid
from collections import ChainMap
from collections.abc import Iterable, Sequence
from threading import RLock
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.storage import Root, paths
from ops.storage.journal import Journal
from ops.video.datasets import mined_dataset
from ops.video.mining.tables import SEAL
from ops.video.review.bulk import without_collection
from ops.video.review.class_names import class_names
from ops.video.review.decisions import Decisions
from ops.video.review.events import Event, events_of, read_events, record_of, require_reviewer
from ops.video.review.items import AnchorItem, PairItem, read_items
from ops.video.review.order import Order
from ops.video.review.progress import Progress
from ops.video.review.queues import Queues, Stage
from ops.video.review.refused import OlderMining, check_event, no_such_mining
from ops.video.review.repeats import Repeats, mixed
from ops.video.review.reviewed import Reviewed
from ops.video.review.stamps import stamped

if TYPE_CHECKING:
    from ops.catalog import Catalog


class Review(Reviewed):
    """A review of the mined frame sets of one source. Made with :meth:`open`.

    Safe to use from several threads; several processes may review the same sets at once.

    Parameters
    ----------
    current : bool
        Whether the mining is the sealed one; nothing can be recorded for another.
    others
        As the attributes of :class:`Reviewed`.
    """

    def __init__(
        self,
        root: Root,
        source: str,
        mined_version: str,
        label_space: str,
        class_names: tuple[str, ...],
        anchors: tuple[AnchorItem, ...],
        pairs: tuple[PairItem, ...],
        *,
        current: bool = True,
    ) -> None:
        super().__init__(root, source, mined_version, label_space, class_names, anchors, pairs)
        self._current = current
        self._lock = RLock()
        self._folder = paths.review_events(source, mined_version)
        self._journal = Journal(root, self._folder)
        self._queues = Queues(anchors, pairs, mined_version, self._decisions)
        self._repeats = Repeats(self._pair_of, mined_version, self._decisions)
        # Sealing publishes a manifest anew; looking at its time is cheaper than reading it.
        self._sealed_at = self._seal_time()
        self._newest = ""

    @classmethod
    def open(
        cls, root: Root, source: str, catalog: Catalog | None = None, version: str | None = None
    ) -> Review:
        """Open the review of a source.

        Parameters
        ----------
        root : Root
        source : str
        catalog : Catalog, optional
            Tells how many classes a label space of an overlay has.
        version : str, optional
            An older mining, to look at what was decided; nothing can be recorded for it.

        Raises
        ------
        ShiftlakeError
            If the source is not mined, its tables are damaged, or a stored decision is.
        """
        manifest = read_manifest(root, mined_dataset(source))
        wanted = version or manifest.version
        if not root.exists(paths.mined(source, wanted, SEAL)):
            raise no_such_mining(root, source, wanted)
        # By version: between reading one table and the next the source may be mined anew.
        with without_collection():
            anchors, pairs = read_items(root, source, wanted)
        labels = {label for item in anchors for label in item.labels}
        labels |= {label for item in pairs for label in item.labels}
        review = cls(
            root,
            source,
            wanted,
            manifest.label_space,
            class_names(manifest.label_space, catalog, max(labels, default=-1) + 1),
            anchors,
            pairs,
            current=wanted == manifest.version,
        )
        review.refresh()
        return review

    def record(self, events: Iterable[Event]) -> Decisions:
        """Record decisions; once this returns they are on disk.

        Events already known by their id are not recorded again. Those without a time get the time
        now, or just after the newest event known, should the clock be behind it.

        Parameters
        ----------
        events : iterable of Event
            Recorded all or, if one is refused, none.

        Returns
        -------
        Decisions
            What follows from all events known now.

        Raises
        ------
        OlderMining
            If the frames were mined anew since this review was opened, or an event is of another
            mining.
        ShiftlakeError
            If a subject is unknown, a verdict does not fit it, a label is no class, an event is
            withdrawn that is not the reviewer's, an id stands for two decisions, or the disk is
            full.
        """
        with self._lock:
            self.refresh()
            self._require_current()
            new: dict[str, Event] = {}
            known = ChainMap(new, self._decisions.votes.events)
            for event in events:
                check_event(self, event, known)
                if event.id not in known:
                    new[event.id] = event
            if new:
                recorded = stamped(new.values(), self._newest)
                self._journal.append([record_of(event) for event in recorded])
                self._take(recorded)
            return self._decisions

    def refresh(self) -> Decisions:
        """Take up what other processes have recorded."""
        with self._lock:
            with without_collection(not self.n_events):
                if events := self._read_new():
                    self._take(events)
            return self._decisions

    def queue(
        self,
        reviewer: str,
        stage: Stage,
        order: Order = "suspicious",
        *,
        raters: int | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """What a reviewer still has to do.

        Parameters
        ----------
        reviewer : str
        stage : {"anchors", "pairs", "joint"}
            Anchors without a verdict of this reviewer; pairs without one, unless their anchor is
            bad or contested; what is contested and has no joint vote of this reviewer, anchors
            first, for they decide about their pairs.
        order : {"suspicious", "random", "set"}
            As in :func:`ops.video.review.order.pair_order`; the joint review goes by name.
        raters : int, optional
            Leave out what so many others have judged already: with 1, reviewers share the work. By
            default everyone judges everything.
        limit : int, optional
            Only so many.

        Returns
        -------
        list of str
            Frame sets, sample keys, or for ``joint`` both.
        """
        with self._lock:
            name = require_reviewer(reviewer)
            return self._queues.waiting(name, stage, order, raters, limit)

    def shown(
        self,
        reviewer: str,
        order: Order = "suspicious",
        *,
        raters: int | None = None,
        repeats: float = 0.0,
    ) -> tuple[list[tuple[str, bool]], int]:
        """The pairs a reviewer is shown next: what is left to judge, and hidden repeats among it.

        Parameters
        ----------
        reviewer, order, raters
            As in :meth:`queue`.
        repeats : float
            Share of the pairs that is to be shown twice, in [0, 1]; 0 shows none.

        Returns
        -------
        items : list of tuple
            Sample key, and whether it is a repeat.
        left : int
            How many there are and will be, repeats that are not due yet among them.
        """
        with self._lock:
            left = self.queue(reviewer, "pairs", order, raters=raters)
            now, in_all = self._repeats.waiting(require_reviewer(reviewer), repeats, left)
            items = mixed(left, now, repeats, lambda key: self.pair(key).frame_set)
            return items, len(left) + in_all

    def undo(self, reviewer: str) -> Event | None:
        """Withdraw the newest decision that a person entered; what held before it holds again.

        Joint votes that were entered at once are withdrawn at once. The withdrawal is an event,
        too: nothing is removed.

        Returns
        -------
        Event or None
            What was withdrawn; None where there is nothing left.
        """
        with self._lock:
            self.refresh()
            name = require_reviewer(reviewer)
            withdrawn = self._decisions.votes.latest(name)
            self.record(
                Event(
                    id=uuid.uuid4().hex,
                    kind="undo",
                    reviewer=name,
                    mined_version=self.mined_version,
                    subject=event.id,
                )
                for event in withdrawn
            )
            return withdrawn[-1] if withdrawn else None

    def progress(self) -> Progress:
        """How much each reviewer has done, and what is decided."""
        with self._lock:
            return super().progress()

    def held(self) -> RLock:
        """A lock for whoever looks at several things that have to fit each other.

        Nothing is taken up while it is held.
        """
        return self._lock

    @property
    def events(self) -> tuple[Event, ...]:
        """All events known, by time; equal times by id."""
        with self._lock:
            return super().events

    def _read_new(self) -> list[Event]:
        try:
            return self._journal.read_new(events_of)
        except ValidationError:
            pass
        # Says which of them is none, at a cost that good ones need not pay.
        records = self._journal.read_new()
        try:
            return read_events(records, self.root.at(self._folder))
        except ShiftlakeError:
            # To go on without them would be to lose decisions quietly.
            self._journal.rewind()
            raise

    def _take(self, events: Sequence[Event]) -> None:
        self._decisions.add(events)
        self._newest = max(self._newest, max((event.at for event in events), default=""))

    def _seal_time(self) -> float | None:
        return self.root.modified(paths.manifest(mined_dataset(self.source)))

    def _require_current(self) -> None:
        if self._current and (time := self._seal_time()) != self._sealed_at:
            manifest = read_manifest(self.root, mined_dataset(self.source))
            self._current = manifest.version == self.mined_version
            self._sealed_at = time
        if not self._current:
            raise OlderMining(self.root, self.source, self.mined_version)
