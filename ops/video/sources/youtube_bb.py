"""YouTube-BB: segments of videos looked at once a second, and whichever videos one has.

Only annotations are published. A video is looked up on disk by its YouTube id; one that is not
there is a clip that says so, and nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ops.catalog.classes import fingerprint
from ops.video.clip import Annotation, Box, Clip, Segment
from ops.video.sources.clip_key import clip_key
from ops.video.sources.entry import YoutubeBbEntry
from ops.video.sources.known import Known
from ops.video.sources.label_names import index_of_label
from ops.video.sources.source import LabelRule
from ops.video.sources.ytbb_tables import LABEL_SPACE, content_hash, read_table

SUFFIXES = frozenset(
    (
        ".3gp",
        ".avi",
        ".flv",
        ".m4v",
        ".mkv",
        ".mov",
        ".mp4",
        ".mpeg",
        ".mpg",
        ".ogv",
        ".ts",
        ".webm",
    )
)


class YoutubeBb(Known):
    """YouTube-BoundingBoxes.

    A segment is told by YouTube id, class and object; the id alone may stand for several.

    Parameters
    ----------
    folder : Path
        Of ``source.yaml``.
    name : str
    entry : YoutubeBbEntry
    """

    entry: YoutubeBbEntry
    rule: LabelRule = "anchor"

    @cached_property
    def _table(self) -> pa.Table:
        tables = [read_table(self.folder / file) for file in self.entry.labels]
        return pa.concat_tables(tables).unify_dictionaries().combine_chunks()

    @cached_property
    def _rows(self) -> dict[str, npt.NDArray[np.int64]]:
        """Positions of a video's rows in the table, by clip key."""
        if not len(self._table):
            return {}
        column = self._table["youtube_id"].chunk(0)
        codes = column.indices.to_numpy()
        order = np.argsort(codes, kind="stable").astype(np.int64)
        names = column.dictionary.to_pylist()
        bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
        found = {
            clip_key(name): order[bounds[code] : bounds[code + 1]]
            for code, name in enumerate(names)
            if bounds[code] < bounds[code + 1]
        }
        return dict(sorted(found.items()))

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        """Videos on disk, by YouTube id; a folder of frames would not tell when they are."""
        folder = self.folder / self.entry.videos
        found: dict[str, list[Path]] = {}
        if folder.is_dir():
            for each in sorted(folder.iterdir()):
                if each.suffix.lower() in SUFFIXES and each.is_file():
                    found.setdefault(each.stem, []).append(each)
        return found

    def keys(self) -> tuple[str, ...]:
        """YouTube ids that the tables name, ascending."""
        return tuple(self._rows)

    def clip(self, key: str) -> Clip:
        """A video with its segments."""
        rows = self._table.take(pa.array(self._of(self._rows, key))).to_pylist()
        video = str(rows[0]["youtube_id"])
        files = self._files.get(video, [])
        problem = None
        if not files:
            problem = f"no video {video} in the folder of videos"
        elif len(files) > 1:
            names = ", ".join(each.name for each in files)
            problem = f"expected one video {video}, found {names}"
        try:
            segments = _segments(rows)
        except ValueError as error:
            segments, problem = (), str(error)
        path = files[0] if files else None
        file = files[0].name if len(files) == 1 else video
        return Clip(key, video, file, path, segments, dense=False, problem=problem)

    def missing(self) -> tuple[str, ...]:
        """YouTube ids of which no video is in the folder, ascending."""
        return tuple(key for key in self._rows if key not in self._files)

    def fingerprint(self) -> str:
        """sha256 over the tables, whether packed or not, in any order."""
        stated = {
            "kind": self.entry.kind,
            "labels": sorted(content_hash(self.folder / file) for file in self.entry.labels),
            "classes": fingerprint(LABEL_SPACE),
        }
        return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def _segments(rows: list[dict[str, Any]]) -> tuple[Segment, ...]:
    """Segments of one video by their keys, annotations by time.

    A row that stands there twice counts once.

    Raises
    ------
    ValueError
        If two rows of one segment and time contradict each other.
    """
    found: dict[str, dict[int, Annotation]] = {}
    for row in rows:
        if row["object_presence"] == "uncertain":
            continue
        label = index_of_label(row["class_name"], LABEL_SPACE)
        key = str(label) if row["object_id"] is None else f"{label}-{row['object_id']}"
        said = _annotation(row, label)
        time = int(row["timestamp_ms"])
        if found.setdefault(key, {}).setdefault(time, said) != said:
            raise ValueError(f"two rows of segment {key} at {time} ms contradict each other")
    return tuple(
        Segment(key, tuple(annotation for _, annotation in sorted(each.items())))
        for key, each in sorted(found.items())
    )


def _annotation(row: dict[str, Any], label: int) -> Annotation:
    present = row["object_presence"] == "present"
    boxes: tuple[Box, ...] | None = None
    if row["xmin"] is not None:
        # Rounding put some corners a little outside.
        xmin, ymin, xmax, ymax = (
            min(max(float(row[name]), 0.0), 1.0) for name in ("xmin", "ymin", "xmax", "ymax")
        )
        track = str(row["object_id"])
        boxes = (Box(label, xmin, ymin, xmax, ymax, track=track),) if present else ()
    labels = (label,) if present else ()
    seconds = row["timestamp_ms"] / 1000
    return Annotation(labels, seconds=seconds, boxes=boxes, relative=True)
