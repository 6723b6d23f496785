"""ImageNet-Vid: frames, one annotation file for each, and the clips they were cut from.

All classes of every frame are annotated. Boxes that were interpolated between drawn ones keep
their flag; they count, for without them hardly a neighbour would have labels.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from pathlib import Path

from ops.catalog.classes import fingerprint
from ops.errors import ShiftlakeError
from ops.video.clip import Annotation, Clip, Segment
from ops.video.frame_set import FrameSet
from ops.video.sources.clip_key import clip_key
from ops.video.sources.entry import ImagenetVidEntry
from ops.video.sources.known import Known
from ops.video.sources.published_sets import SNIPPET, by_snippet, incomplete, placed
from ops.video.sources.source import LabelRule
from ops.video.sources.vid_xml import LABEL_SPACE, read_frame

_FRAME = re.compile(r"\d{1,9}")


class ImagenetVid(Known):
    """One split of ImageNet-Vid.

    Parameters
    ----------
    folder : Path
        Of ``source.yaml``.
    name : str
    entry : ImagenetVidEntry
    """

    entry: ImagenetVidEntry
    rule: LabelRule = "frame"

    @property
    def root(self) -> Path:
        """The folder with ``Data``, ``Annotations`` and ``ImageSets``."""
        return self.folder / self.entry.root

    @property
    def annotations(self) -> Path:
        """The folder of the split's annotations."""
        return self.root / "Annotations" / "VID" / self.entry.split

    @cached_property
    def _snippets(self) -> dict[str, str]:
        """Path of a snippet below the split's folder, by clip key."""
        if not self.annotations.is_dir():
            raise ShiftlakeError(
                "The annotations of ImageNet-Vid are not there.",
                expected="the folder Annotations/VID with a folder for each split",
                found=f"no Annotations/VID/{self.entry.split}",
                where=f"{self.name}: {self.root}",
                remedy="let `root` in source.yaml name the folder that holds Annotations, or "
                "unpack the archive there",
            )
        paths = {*self._listed(), *self._annotated()}
        found = {clip_key(path.rpartition("/")[2]): path for path in sorted(paths)}
        if len(found) < len(paths):
            twice = sorted(paths - set(found.values()))[0]
            raise ShiftlakeError(
                "Two snippets have the same name.",
                expected="each snippet once",
                found=twice,
                where=f"{self.name}: {self.annotations}",
                remedy="remove one of them",
            )
        # A published set of a snippet that is not here is a video that is missing, and no less.
        found = {key: key for key in self._published or {}} | found
        return dict(sorted(found.items()))

    def _annotated(self) -> set[str]:
        """Snippets with a folder of annotations; those of train lie in one more folder."""
        tops = [each.name for each in self.annotations.iterdir() if each.is_dir()]
        if self.entry.split == "val":
            return {name for name in tops if SNIPPET.fullmatch(name)}
        return {
            f"{top}/{each.name}"
            for top in tops
            if SNIPPET.fullmatch(top)
            for each in (self.annotations / top).iterdir()
            if each.is_dir() and SNIPPET.fullmatch(each.name)
        }

    def _listed(self) -> set[str]:
        """Snippets that the published lists name; a later validation set has more than 2015's."""
        pattern = "val.txt" if self.entry.split == "val" else "train_*.txt"
        found: set[str] = set()
        for file in sorted((self.root / "ImageSets" / "VID").glob(pattern)):
            with file.open(encoding="ascii", errors="replace") as lines:
                for number, line in enumerate(lines, 1):
                    if not (text := line.strip()):
                        continue
                    path = text.split()[0]
                    path = path.rpartition("/")[0] if self.entry.split == "val" else path
                    parts = path.split("/")
                    deep = 1 if self.entry.split == "val" else 2
                    if len(parts) != deep or not all(map(SNIPPET.fullmatch, parts)):
                        raise ShiftlakeError(
                            "A list of snippets cannot be read.",
                            expected="<snippet>/<frame> <number>"
                            if deep == 1
                            else "<folder>/<snippet> <number>",
                            found=text[:80],
                            where=f"{self.name}: ImageSets/VID/{file.name}, line {number}",
                            remedy="unpack the file again",
                        )
                    found.add(path)
        return found

    def keys(self) -> tuple[str, ...]:
        """Keys of all snippets, ascending."""
        return tuple(self._snippets)

    def clip(self, key: str) -> Clip:
        """A snippet with the labels and boxes of every frame."""
        snippet = self._of(self._snippets, key)
        video = snippet.rpartition("/")[2]
        path, file, problem = self._video(snippet)
        found: list[Annotation] = []
        where = f"Annotations/VID/{self.entry.split}/{snippet}"
        try:
            positions = self._positions(path)
            if positions is not None:
                problem = incomplete((self._published or {}).get(key, ()), positions)
            for number, xml in self._files(snippet):
                where = f"Annotations/VID/{self.entry.split}/{snippet}/{xml.name}"
                at = number if positions is None else positions.get(number)
                if at is None:
                    continue  # Of a frame that is not there nothing can be shown.
                boxes = read_frame(xml).boxes
                labels = tuple(sorted({box.label for box in boxes}))
                found.append(Annotation(labels, frame=at, boxes=boxes))
        except ValueError as error:
            found, problem = [], f"{where}: {error}"
        except OSError as error:
            # Without its name, which would tell where on this machine it lies.
            found, problem = [], f"{where}: cannot be read, {error.strerror}"
        if not found and problem is None:
            problem = f"Annotations/VID/{self.entry.split}/{snippet} annotates no frame"
        segments = (Segment("", tuple(found)),)
        return Clip(key, video, file, path, segments, dense=True, problem=problem)

    def missing(self) -> tuple[str, ...]:
        """Snippets without pictures, by key."""
        return tuple(
            snippet.rpartition("/")[2]
            for snippet in self._snippets.values()
            if self._video(snippet)[0] is None
        )

    def _files(self, snippet: str) -> list[tuple[int, Path]]:
        """Number and file of all annotations of a snippet, ascending."""
        folder = self.annotations / snippet
        if not folder.is_dir():
            return []
        return sorted(
            (int(each.stem), each)
            for each in folder.iterdir()
            if each.suffix == ".xml" and _FRAME.fullmatch(each.stem) and each.is_file()
        )

    def _video(self, snippet: str) -> tuple[Path | None, str, str | None]:
        """Where the pictures are, their name below the root, and what is wrong with that."""
        if self.entry.pictures == "frames":
            file = f"Data/VID/{self.entry.split}/{snippet}"
            there = (self.root / file).is_dir()
        else:
            file = f"Data/VID/snippets/{self.entry.split}/{snippet}.mp4"
            there = (self.root / file).is_file()
        return (self.root / file, file, None) if there else (None, file, f"{file} is not there")

    def _positions(self, path: Path | None) -> dict[int, int] | None:
        """Place of every numbered picture of a folder, where numbers and places may differ."""
        if path is None or self.entry.pictures == "snippets":
            return None
        numbers = sorted(
            int(each.stem)
            for each in path.iterdir()
            if each.suffix.lower() in (".jpeg", ".jpg") and _FRAME.fullmatch(each.stem)
        )
        return {number: at for at, number in enumerate(numbers)}

    @cached_property
    def _published(self) -> dict[str, list[FrameSet]] | None:
        files = self.entry.frame_sets
        if files is None:
            return None
        return by_snippet(self.folder / files.pmsets, self.folder / files.labels)

    def frame_sets(self, key: str) -> tuple[FrameSet, ...] | None:
        """Published sets of a snippet, or None where the entry names none.

        Where pictures are missing the numbers in the keys are places among those that are there,
        as everywhere else.
        """
        snippet = self._of(self._snippets, key)
        if self._published is None:
            return None
        sets = self._published.get(key, [])
        positions = self._positions(self._video(snippet)[0])
        if positions is None or all(number == at for number, at in positions.items()):
            return tuple(sets)
        found = (placed(each, positions) for each in sets)
        return tuple(each for each in found if each is not None)

    def fingerprint(self) -> str:
        """sha256 over the split, every annotation file and the published sets."""
        state = hashlib.sha256()
        for key, snippet in self._snippets.items():
            state.update(f"{key}\n".encode())
            for number, xml in self._files(snippet):
                content = hashlib.sha256(xml.read_bytes()).hexdigest()
                state.update(f"{number} {content}\n".encode())
        files = self.entry.frame_sets
        stated = {
            "kind": self.entry.kind,
            "split": self.entry.split,
            "pictures": self.entry.pictures,
            "classes": fingerprint(LABEL_SPACE),
            "frame_sets": None
            if files is None
            else [self._hash(files.pmsets), self._hash(files.labels)],
        }
        state.update(json.dumps(stated, sort_keys=True).encode())
        return state.hexdigest()
