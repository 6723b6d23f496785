"""The frames of sealed frame sets as a model sees them, decoded once and kept on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ops.errors import ShiftlakeError
from ops.inference import prepare
from ops.models.transform import Transform
from ops.shards import Manifest, Sample, read_manifest, read_shard
from ops.storage import Root
from ops.storage.root import full_disk_explained
from ops.video.published import video_of

_THREADS = 4


@dataclass(frozen=True)
class StoredSet:
    """A frame set whose pixels are stored.

    Attributes
    ----------
    name : str
        The anchor's name in the dataset.
    video : str
        Which video it is from.
    rows : tuple of int
        Where its frames lie, in the order of presentation.
    offsets : tuple of int
        Of each frame from the anchor; 0 is among them once.
    labels : tuple of tuple of int
        Accepted labels of each frame.
    """

    name: str
    video: str
    rows: tuple[int, ...]
    offsets: tuple[int, ...]
    labels: tuple[tuple[int, ...], ...]

    @property
    def anchor(self) -> int:
        """Place of the anchor among the frames."""
        return self.offsets.index(0)

    def alike(self) -> list[int]:
        """Places of the frames that share a label with the anchor, itself included."""
        own = set(self.labels[self.anchor])
        return [place for place, labels in enumerate(self.labels) if own & set(labels)]

    def target(self, place: int) -> tuple[int, ...]:
        """The labels that a frame shares with the anchor."""
        own = set(self.labels[self.anchor])
        return tuple(label for label in self.labels[place] if label in own)


@dataclass(frozen=True)
class StoredSets:
    """All sets that can be used, their pixels, and why others cannot.

    Attributes
    ----------
    sets : tuple of StoredSet
        In the order of the shards.
    skipped : dict of str to str
        Reason by name of the set.
    pixels : uint8 array, shape (frames, height, width, 3)
        Read from the disk as they are used.
    """

    sets: tuple[StoredSet, ...]
    skipped: dict[str, str]
    pixels: npt.NDArray[np.uint8]


def store_sets(
    root: Root,
    manifest: Manifest,
    transform: Transform,
    folder: Path,
    *,
    k: int,
    knows: Callable[[Sequence[int]], bool],
) -> StoredSets:
    """Decode and transform the frames of a sealed dataset of frame sets.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        Of frames, or of accepted labels joined to them: then only accepted frames are taken.
    transform : Transform
    folder : Path
        Where the pixels are put; a set of 21 frames of 224 x 224 takes 3 MB.
    k : int
        Frames further from their anchor are left out.
    knows : callable
        Whether a model has an output for one of some labels.

    Returns
    -------
    StoredSets
        A set is skipped if one of its frames cannot be read, if it has no anchor, or if the model
        knows none of the anchor's labels.

    Raises
    ------
    ShiftlakeError
        If the dataset holds no frame sets, or accepted labels of other frames than are sealed.
    """
    path = folder / "pixels"
    sets: list[StoredSet] = []
    skipped: dict[str, str] = {}
    size = transform.output_size
    count = 0
    with (
        full_disk_explained(path, f"the decoded frames of {manifest.name}"),
        path.open("wb") as file,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        for name, found in frame_sets(root, manifest):
            frames = [frame for frame in found if abs(_offset(frame)) <= k]
            reason = _unusable(frames, knows)
            if reason is None:
                images = np.empty((len(frames), *size, 3), np.uint8)
                sources = [frame.image for frame in frames]
                problems = pool.map(prepare, sources, [transform] * len(frames), images)
                for frame, problem in zip(frames, list(problems), strict=True):
                    if problem is not None:
                        reason = f"frame {_offset(frame):+d} cannot be read: {problem}"
            if reason is not None:
                skipped[name] = reason
                continue
            file.write(images.data)
            rows = tuple(range(count, count + len(frames)))
            count += len(frames)
            labels = tuple(tuple(map(int, frame.meta["labels"])) for frame in frames)
            offsets = tuple(map(_offset, frames))
            meta = frames[0].meta
            video = video_of(str(meta["benchmark"]), str(meta["source_key"]))
            sets.append(StoredSet(name, video, rows, offsets, labels))
    if not count:
        return StoredSets((), skipped, np.empty((0, *size, 3), np.uint8))
    pixels = np.memmap(path, np.uint8, "r", shape=(count, *size, 3))
    return StoredSets(tuple(sets), skipped, pixels)


def frame_sets(root: Root, manifest: Manifest) -> Iterator[tuple[str, list[Sample]]]:
    """The sets of a dataset with their frames in the order of presentation.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        As :func:`store_sets` takes it.

    Raises
    ------
    ShiftlakeError
        As :func:`store_sets`; also if a shard is not what was sealed.
    """
    accepted: dict[str, Any] | None = None
    if manifest.joined_to is not None:
        accepted = {sample.key: sample.meta["labels"] for sample in _samples(root, manifest)}
        manifest = _joined(root, manifest)
    for name, frames in groupby(_samples(root, manifest), lambda s: s.meta.get("frame_set")):
        if name is None:
            raise ShiftlakeError(
                "The dataset holds no frame sets.",
                expected="frames with their anchor and their offset from it",
                found="samples without frame_set",
                where=manifest.name,
                remedy="name a dataset of video frames: shiftlake datasets lists them",
            )
        kept = sorted(frames, key=_offset)
        if accepted is not None:
            kept = [
                Sample(f.key, f.image, f.extension, f.cls, f.meta | {"labels": accepted[f.key]})
                for f in kept
                if f.key in accepted
            ]
        if kept:
            yield str(name), kept


def _samples(root: Root, manifest: Manifest) -> Iterator[Sample]:
    for entry in manifest.shards:
        yield from read_shard(root, manifest, entry, hash=True)


def _joined(root: Root, manifest: Manifest) -> Manifest:
    frames = read_manifest(root, str(manifest.joined_to))
    mined = manifest.parameters.get("mined_version", frames.version)
    if mined != frames.version:
        raise ShiftlakeError(
            "The frames were mined again since they were reviewed.",
            expected=f"{frames.name} of version {mined}",
            found=f"version {frames.version}",
            where=manifest.name,
            remedy="train on the frames as they are reviewed now: shiftlake reviews carry "
            f"{manifest.condition}, then shiftlake reviews freeze {manifest.condition}",
        )
    return frames


def _unusable(frames: list[Sample], knows: Callable[[Sequence[int]], bool]) -> str | None:
    anchors = Counter(map(_offset, frames))[0]
    if anchors != 1:
        return f"it has {anchors} anchors" if anchors else "its anchor is not among its frames"
    (anchor,) = (frame for frame in frames if _offset(frame) == 0)
    if not knows(anchor.meta["labels"]):
        return "the model has no output for a label of its anchor"
    return None


def _offset(frame: Sample) -> int:
    return int(frame.meta["frame_offset"])
