"""Layouts of the video benchmarks: frames with their anchor, offset and labels.

A frame belongs to exactly one frame set, and a set never lies in two shards.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.fetch.archive_members import Members
from ops.shards.layouts.base import Ignored, Layout, missing_files, parse_json, stem_key
from ops.shards.sample import Sample


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
        missing = set(self.known) - {_tail(name) for name in members.names}
        if missing:
            what = f"{len(self.known):,} annotated frames"
            raise missing_files(self.spec.name, what, sorted(missing))
        return members

    def key(self, name: str) -> str | Ignored:
        """``<video>/<frame>``."""
        if not name.lower().endswith((".jpg", ".jpeg")):
            return Ignored("not a frame")
        return stem_key(name, 2) if _tail(name) in self.known else Ignored("in no frame set")

    def group(self, key: str) -> str:
        """A frame set: the folder of one video or segment."""
        return key.rpartition("/")[0]

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a frame."""
        frame = self.known[_tail(name)]
        return self.finish(
            name,
            data,
            source_key=PurePosixPath(name).parent.name,
            labels=list(frame.labels),
            has_cls=False,
            frame_set=frame.frame_set,
            frame_offset=frame.offset,
        )

    def add_set(
        self, known: dict[str, Frame], anchor: str, others: dict[str, tuple[int, ...]]
    ) -> None:
        """Add an anchor and its neighbours, each with its labels; refuse a frame in two sets."""
        for path, labels in others.items():
            if path in known:
                raise ShiftlakeError(
                    "A frame belongs to two frame sets.",
                    expected="each frame in one set",
                    found=f"{known[path].frame_set} and {anchor}",
                    where=f"{self.spec.name}: {path}",
                    remedy="check the annotation files",
                )
            known[path] = Frame(stem_key(anchor, 2), _number(path) - _number(anchor), labels)


class VidRobust(FrameSets):
    """ImageNet-Vid-Robust: ``pmsets.json`` and ``labels.json``, whose keys start with ``val/``."""

    CLASS_LISTS = ("imagenet_vid30",)

    folder = "imagenet-vid-robust"

    def frames(self, members: Members) -> dict[str, Frame]:
        """Frames of all sets; each frame has labels of its own."""
        top = next((n for n in members.names if n.endswith("metadata/pmsets.json")), None)
        prefix = top.removesuffix("pmsets.json") if top else "metadata/"
        sets: dict[str, list[str]] = self._metadata(members, f"{prefix}pmsets.json")
        labels: dict[str, list[int]] = self._metadata(members, f"{prefix}labels.json")
        known: dict[str, Frame] = {}
        for anchor, neighbours in sets.items():
            paths = [anchor, *neighbours]
            lacking = [path for path in paths if path not in labels]
            if lacking:
                raise missing_files(self.spec.name, "labels of every frame", lacking)
            wanted = {_tail(path): tuple(labels[path]) for path in paths}
            self.add_set(known, _tail(anchor), wanted)
        return known

    def _metadata(self, members: Members, name: str) -> Any:
        return parse_json(members.read(name), f"{self.spec.name}: {name}")


class YtbbRobust(FrameSets):
    """YTBB-Robust: anchors and pairs as annotators left them, the last annotation of a key wins.

    An anchor counts if it is good, and neither bad nor unsure, and no pair of it says
    ``bad-anchor``; a pair if it is similar and carries no negative flag. Neighbours take the
    anchor's labels: the class of the CSV and what annotators added.
    """

    CLASS_LISTS = ("ytbb24",)

    folder = "ytbb-robust"
    NEGATIVE = frozenset(
        (
            "dissimilar",
            "problematic",
            "incorrect",
            "dont know",
            "deformation",
            "background-change",
            "occlusion-increased",
            "blur-increase",
            "bad-anchor",
        )
    )

    def frames(self, members: Members) -> dict[str, Frame]:
        """Frames of all accepted sets."""
        positions = {name: at for at, name in enumerate(classes.video("ytbb24").names)}
        initial = self._csv_labels()
        pairs: dict[str, dict[str, frozenset[str]]] = {}
        for key, flags in self._annotations("ytbb_pmk_labels").items():
            anchor, _, neighbour = key.partition(",")
            pairs.setdefault(_tail(anchor), {})[_tail(neighbour)] = flags
        known: dict[str, Frame] = {}
        for key, flags in self._annotations("ytbb_anchor_labels").items():
            anchor = _tail(key)
            judged = pairs.get(anchor, {})
            bad = any("bad-anchor" in found for found in judged.values())
            if "good" not in flags or flags & {"bad", "unsure"} or bad:
                continue
            segment = anchor.split("/")[0]
            if segment not in initial:
                raise missing_files(self.spec.name, "a row of the CSV for each anchor", [segment])
            added = {positions[flag] for flag in flags if flag in positions}
            labels = tuple(sorted(added | {initial[segment]}))
            similar = [
                neighbour
                for neighbour, found in judged.items()
                if "similar" in found and not found & self.NEGATIVE
            ]
            self.add_set(known, anchor, dict.fromkeys([anchor, *sorted(similar)], labels))
        return known

    def _annotations(self, file: str) -> dict[str, frozenset[str]]:
        store: dict[str, Any] = parse_json(self.side[file], f"{self.spec.name}: {file}")
        names = store["labels"]
        found: dict[str, frozenset[str]] = {}
        for entry in store["annotations"]:
            # The key's paths may be absolute on an annotator's machine: two parts identify them.
            key = ",".join(_tail(path) for path in entry["key"].split(","))
            found[key] = frozenset(names[position] for position in entry["labels"])
        return found

    def _csv_labels(self) -> dict[str, int]:
        # This file numbers car 22 and none 23; the class index has them the other way round.
        swap = {22: 23, 23: 22}
        rows: Iterable[list[str]] = csv.reader(
            io.StringIO(self.side["ytbb_anchors_csv"].decode(), newline="")
        )
        found: dict[str, int] = {}
        for row in rows:
            if len(row) == 3 and row[1].isascii() and row[1].isdigit():
                number = int(row[2])
                found[f"{row[0]}_{row[1]}"] = swap.get(number, number)
        return found


def _tail(path: str) -> str:
    return "/".join(path.strip().split("/")[-2:])


def _number(path: str) -> int:
    digits = re.search(r"(\d+)\D*$", PurePosixPath(path).stem)
    return int(digits[1]) if digits else 0
