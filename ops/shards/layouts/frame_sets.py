"""Layouts of the video benchmarks: frames with their anchor, offset and labels.

A frame belongs to exactly one frame set, and a set never lies in two shards.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ops.fetch.archive_members import Members
from ops.shards.layouts.base import Ignored, Layout, missing_files, parse_json, stem_key
from ops.shards.sample import Sample
from ops.video.frame_set import FrameSet
from ops.video.published import (
    frame_number,
    initial_labels,
    last_flags,
    tail,
    vid_robust_sets,
    ytbb_robust_sets,
)


class Frame(NamedTuple):
    """Place of a frame in its set: the anchor's key, the offset in frames, accepted labels."""

    frame_set: str
    offset: int
    labels: tuple[int, ...]


class FrameSets(Layout):
    """Frames looked up in annotations by the last two parts of their path."""

    folder = ""

    def wanted(self, name: str) -> bool:
        """Only this benchmark's part of the shared archive."""
        return f"/{self.folder}/" in f"/{name}"

    def frames(self, members: Members) -> dict[str, Frame]:
        """All annotated frames, by ``<video>/<file name>``."""
        raise TypeError(f"{type(self).__name__} names no frames")

    def prepare(self, members: Members) -> Members:
        """Read the annotations, and see that every annotated frame is there."""
        self.known = self.frames(members)
        missing = set(self.known) - {tail(name) for name in members.names}
        if missing:
            what = f"{len(self.known):,} annotated frames"
            raise missing_files(self.spec.name, what, sorted(missing))
        return members

    def key(self, name: str) -> str | Ignored:
        """``<video>/<frame>``."""
        if not name.lower().endswith((".jpg", ".jpeg")):
            return Ignored("not a frame")
        return stem_key(name, 2) if tail(name) in self.known else Ignored("in no frame set")

    def group(self, key: str) -> str:
        """A frame set: the folder of one video or segment."""
        return key.rpartition("/")[0]

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a frame."""
        frame = self.known[tail(name)]
        return self.finish(
            name,
            data,
            source_key=PurePosixPath(name).parent.name,
            labels=list(frame.labels),
            has_cls=False,
            frame_set=frame.frame_set,
            frame_offset=frame.offset,
        )

    def known_frames(self, sets: Iterable[FrameSet]) -> dict[str, Frame]:
        """Frames of all sets, by the last two parts of their paths."""
        return {
            tail(path): Frame(
                stem_key(tail(each.anchor), 2),
                frame_number(path) - frame_number(each.anchor),
                each.labels[path],
            )
            for each in sets
            for path in (each.anchor, *each.neighbours)
        }


class VidRobust(FrameSets):
    """ImageNet-Vid-Robust: ``pmsets.json`` and ``labels.json``, whose keys start with ``val/``."""

    CLASS_LISTS = ("imagenet_vid30",)

    folder = "imagenet-vid-robust"

    def frames(self, members: Members) -> dict[str, Frame]:
        """Frames of all sets; each frame has labels of its own."""
        top = next((n for n in members.names if n.endswith("metadata/pmsets.json")), None)
        prefix = top.removesuffix("pmsets.json") if top else "metadata/"
        sets = self._metadata(members, f"{prefix}pmsets.json")
        labels = self._metadata(members, f"{prefix}labels.json")
        return self.known_frames(vid_robust_sets(sets, labels, self.spec.name))

    def _metadata(self, members: Members, name: str) -> Any:
        return parse_json(members.read(name), f"{self.spec.name}: {name}")


class YtbbRobust(FrameSets):
    """YTBB-Robust: anchors and pairs as annotators left them."""

    CLASS_LISTS = ("ytbb24",)

    folder = "ytbb-robust"

    def frames(self, members: Members) -> dict[str, Frame]:
        """Frames of all accepted sets."""
        rows = csv.reader(io.StringIO(self.side["ytbb_anchors_csv"].decode(), newline=""))
        sets = ytbb_robust_sets(
            self._annotations("ytbb_anchor_labels"),
            self._annotations("ytbb_pmk_labels"),
            initial_labels(rows, self.spec.name),
            self.spec.name,
        )
        return self.known_frames(sets)

    def _annotations(self, file: str) -> dict[str, frozenset[str]]:
        store = parse_json(self.side[file], f"{self.spec.name}: {file}")
        return last_flags(store, file, self.spec.name)
