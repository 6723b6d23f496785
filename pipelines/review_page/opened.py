"""The reviews a server has open: each of the mining that is sealed now, with its pictures."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from ops.shards.manifest import DatasetMissing, sealed_datasets
from ops.storage import Root, paths
from ops.video.datasets import mined_dataset
from ops.video.frame_images import FrameImages
from ops.video.review import Review

if TYPE_CHECKING:
    from ops.catalog import Catalog

_BENCHMARK = "frame_sets/"
_NAME = re.compile(r"[A-Za-z0-9_]{1,100}")
# Seconds that an answer about the lake is taken for granted: what is mined anew meanwhile is
# refused all the same when a decision is recorded.
_TRUSTED = 1.0


@dataclass(frozen=True)
class Opened:
    """One review, and the pictures it is about."""

    review: Review
    images: FrameImages
    seal: float | None


class Reviews:
    """Reviews by source, opened when they are first asked for. Safe for several threads.

    Parameters
    ----------
    root : Root
    catalog : Catalog
    only : str, optional
        The one source to offer; all that are mined by default.
    """

    def __init__(self, root: Root, catalog: Catalog, only: str | None = None) -> None:
        self.root, self.catalog = root, catalog
        self._only = only
        self._lock = Lock()
        self._open: dict[str, Opened] = {}
        self._looked: dict[str, float] = {}

    def sources(self) -> list[str]:
        """Names of the sources that can be reviewed, sorted."""
        if self._only is not None:
            return [self._only]
        found = [name for name in sealed_datasets(self.root) if name.startswith(_BENCHMARK)]
        return [name.removeprefix(_BENCHMARK) for name in found]

    def get(self, source: str) -> Opened:
        """The review of a source, as it is mined now, with what others decided meanwhile.

        Raises
        ------
        DatasetMissing
            If there is no such source, or it is not mined.
        ShiftlakeError
            If what mining left is damaged.
        """
        if not (source == self._only if self._only else _NAME.fullmatch(source)):
            raise _unknown(source)
        with self._lock:
            found = self._open.get(source)
            if found is None or time.monotonic() - self._looked[source] > _TRUSTED:
                seal = self.root.modified(paths.manifest(mined_dataset(source)))
                if seal is None:
                    raise _unknown(source)
                if found is None or found.seal != seal:
                    found = self._opened(source, seal, found)
                found.review.refresh()
                self._open[source] = found
                self._looked[source] = time.monotonic()
            return found

    def look_again(self, source: str) -> None:
        """Trust nothing known of a source the next time."""
        with self._lock:
            if source in self._looked:
                self._looked[source] = float("-inf")

    def _opened(self, source: str, seal: float | None, before: Opened | None) -> Opened:
        review = Review.open(self.root, source, self.catalog)
        if before is not None and before.review.mined_version == review.mined_version:
            # Sealed again with the same content: the pictures may lie elsewhere in their shards.
            review = before.review
        sha256 = {item.sample_key: item.sha256 for item in review.anchors}
        sha256 |= {item.sample_key: item.sha256 for item in review.pairs}
        return Opened(review, FrameImages(self.root, mined_dataset(source), sha256), seal)


def _unknown(source: str) -> DatasetMissing:
    return DatasetMissing(
        "There is no such source to review.",
        expected="a source that is mined",
        found=repr(source[:100]),
        where="review page",
        remedy="The page without a source lists those there are; shiftlake video mine adds one.",
    )
