"""A folder of videos with one file of labels."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from functools import cached_property
from pathlib import Path

from ops.catalog.classes import ILSVRC, fingerprint
from ops.video.clip import Annotation, Clip, Segment
from ops.video.sources.clip_key import clip_key
from ops.video.sources.entry import FolderEntry
from ops.video.sources.known import Known
from ops.video.sources.label_names import NAMED
from ops.video.sources.label_rows import LabelRow
from ops.video.sources.labels_file import read_rows, refused
from ops.video.sources.source import LabelRule


class LabelledFolder(Known):
    """Videos of one's own.

    Parameters
    ----------
    folder : Path
        Of ``source.yaml``.
    name : str
    entry : FolderEntry
    """

    entry: FolderEntry

    @property
    def rule(self) -> LabelRule:
        """Frames have labels of their own where all of them are labelled."""
        return "frame" if self.entry.dense else "anchor"

    @cached_property
    def _rows(self) -> dict[str, list[LabelRow]]:
        """Rows of every video, by clip key."""
        path = self.folder / self.entry.labels
        shares = self.entry.boxes == "shares"
        found: dict[str, list[LabelRow]] = {}
        names: dict[str, str] = {}
        seen: set[object] = set()
        for place, row in read_rows(path, self.entry.label_space, shares=shares):
            key = clip_key(_without_suffix(row.video))
            if names.setdefault(key, row.video) != row.video:
                why = f"expected names that differ before their suffix, not {row.video!r:.80}"
                raise refused(path, place, f"{why} beside {names[key]!r:.80}")
            for said in _said(row):
                if said in seen:
                    why = (
                        f"expected every label and box once, not {row.moment} of {row.video!r:.80}"
                    )
                    raise refused(path, place, f"{why} again")
                seen.add(said)
            found.setdefault(key, []).append(row)
        for key, rows in found.items():
            moments = {row.frame is not None or row.seconds is not None for row in rows}
            if len(moments) > 1:
                why = "expected labels for the whole video or for moments of it, not both"
                raise refused(path, names[key], why)
        return dict(sorted(found.items()))

    def keys(self) -> tuple[str, ...]:
        """Keys of all videos that the labels name, ascending."""
        return tuple(self._rows)

    def clip(self, key: str) -> Clip:
        """A video with its labels."""
        rows = self._of(self._rows, key)
        file = rows[0].video
        path = self._path(file)
        whole = tuple(
            sorted({x for row in rows if row.moment == "the whole video" for x in row.labels})
        )
        moments = _annotations(rows, relative=self.entry.boxes == "shares")
        frames = path is not None and path.is_dir()
        problem = None if path else self._absent(file)
        if frames and self.entry.fps is None and any(each.frame is None for each in moments):
            problem = "labels by time, and fps in source.yaml does not say when its frames are"
        return Clip(
            key,
            file,
            file,
            path,
            (Segment("", moments, whole),),
            dense=self.entry.dense and bool(moments),
            problem=problem,
            fps=self.entry.fps if frames else None,
        )

    def missing(self) -> tuple[str, ...]:
        """Videos that are not in the folder, by key."""
        names = (rows[0].video for rows in self._rows.values())
        return tuple(name for name in names if self._path(name) is None)

    def _path(self, file: str) -> Path | None:
        base = self.folder / self.entry.videos
        path = base / file
        if not path.exists() and not file.isascii():
            # macOS writes an umlaut as two characters, a spreadsheet as one.
            path = base / self._spelled.get(_composed(file), file)
        return path if path.is_file() or path.is_dir() else None

    def _absent(self, file: str) -> str:
        """That a video is not there, and which one may be meant: another case, no suffix."""
        if not (self.folder / self.entry.videos).is_dir():
            return "the folder of videos does not exist"
        near = self._loosely.get(file.casefold(), ())
        has = f", which has {' and '.join(near)}" if near else ""
        return f"not in the folder of videos{has}"

    @cached_property
    def _loosely(self) -> dict[str, list[str]]:
        """Files at the top of the folder of videos, by small letters with and without suffix."""
        found: dict[str, list[str]] = {}
        for name in sorted(path.name for path in (self.folder / self.entry.videos).iterdir()):
            for meant in {name.casefold(), _without_suffix(name).casefold()}:
                found.setdefault(meant, []).append(name)
        return found

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """Every name on disk that is not plain ASCII, by its composed form."""
        base = self.folder / self.entry.videos
        names = (path.relative_to(base).as_posix() for path in base.rglob("*"))
        return {_composed(name): name for name in names if not name.isascii()}

    def fingerprint(self) -> str:
        """sha256 over the labels file and how it is to be understood."""
        space = self.entry.label_space
        stated = {
            "kind": self.entry.kind,
            "labels": self._hash(self.entry.labels),
            "classes": _classes(space),
            "label_space": space,
            "boxes": self.entry.boxes,
            "dense": self.entry.dense,
            # Labels by time are mapped to frames by it.
            "fps": self.entry.fps,
        }
        return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def _classes(space: str) -> str | None:
    """Hash of the classes that names stand for, where there are names."""
    if space not in NAMED:
        return None
    return fingerprint("ilsvrc" if space == ILSVRC else space)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _without_suffix(file: str) -> str:
    path = Path(file)
    return str(path.with_suffix("")) if path.stem else file


def _said(row: LabelRow) -> list[object]:
    """What a row says, piece by piece, so that saying it twice is noticed."""
    moment = (row.video, row.frame, row.seconds)
    if row.boxes:
        return [(moment, box) for box in row.boxes]
    return [(moment, label) for label in row.labels or (None,)]


def _annotations(rows: list[LabelRow], *, relative: bool) -> tuple[Annotation, ...]:
    """The moments of a video in order; what several rows say of one adds up."""
    found: dict[tuple[int | None, float | None], Annotation] = {}
    for row in rows:
        if row.frame is None and row.seconds is None:
            continue
        before = found.get((row.frame, row.seconds))
        labels, boxes = set(row.labels), row.boxes
        if before is not None:
            labels |= set(before.labels)
            boxes = boxes if before.boxes is None else before.boxes + (boxes or ())
        found[row.frame, row.seconds] = Annotation(
            tuple(sorted(labels)), row.frame, row.seconds, boxes, relative
        )
    return tuple(sorted(found.values(), key=lambda each: (each.frame or 0, each.seconds or 0.0)))
