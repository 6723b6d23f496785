"""A source made by a test: clips that are held in memory, and can be sent to other processes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from made_clips import write_clip

from ops.errors import ShiftlakeError
from ops.storage import Root
from ops.video.clip import Annotation, Box, Clip, Segment
from ops.video.frame_set import FrameSet
from ops.video.mining.config import MiningConfig
from ops.video.sources import FolderEntry

DOG, CAT, CAR = 8, 9, 6


@dataclass
class MadeSource:
    """Everything a source can tell, as a test says it."""

    clips: dict[str, Clip]
    mining: MiningConfig = field(default_factory=lambda: MiningConfig(k=3))
    name: str = "made"
    rule: str = "frame"
    label_space: str = "imagenet_vid30"
    sets: dict[str, tuple[FrameSet, ...]] | None = None
    unreadable: dict[str, str] = field(default_factory=dict)
    synthetic: bool = True

    @property
    def entry(self) -> FolderEntry:
        return FolderEntry(
            kind="folder",
            videos="videos",
            labels="labels.json",
            label_space=self.label_space,
            synthetic=self.synthetic,
            licence="CC0",
            mining=self.mining,
        )

    def keys(self) -> tuple[str, ...]:
        return tuple(sorted(self.clips))

    def clip(self, key: str) -> Clip:
        if key in self.unreadable:
            raise ShiftlakeError(
                "Broken.", expected="labels", found=self.unreadable[key], where=key, remedy="none"
            )
        return self.clips[key]

    def frame_sets(self, key: str) -> tuple[FrameSet, ...] | None:
        return None if self.sets is None else self.sets.get(key, ())

    def fingerprint(self) -> str:
        told = repr((sorted((key, clip.segments) for key, clip in self.clips.items()), self.sets))
        return hashlib.sha256(told.encode()).hexdigest()


def seen_in(labels: dict[int, tuple[int, ...]], key: str = "") -> Segment:
    """A segment with labels of some frames."""
    return Segment(key, tuple(Annotation(of, frame=at) for at, of in sorted(labels.items())))


def clip_of(
    path: Path | None,
    *segments: Segment,
    key: str | None = None,
    dense: bool = False,
    problem: str | None = None,
) -> Clip:
    """A clip; where nothing else is said its whole video shows a dog."""
    key = key or (path.stem if path else "absent")
    file = path.name if path else f"{key}.mp4"
    return Clip(key, file, file, path, segments or (Segment("", (), (DOG,)),), dense, problem)


def dogs(folder: Path, *names: str, frames: int = 24, **options: object) -> dict[str, Clip]:
    """Short videos of painted numbers, each said to show a dog."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names:
        path = folder / f"{name}.mp4"
        if not path.exists():
            write_clip(path, frames=frames, width=96, height=64, **options)  # type: ignore[arg-type]
        found[name] = clip_of(path)
    return found


def box(label: int, side: float, **more: object) -> Box:
    """A square box."""
    return Box(label, 0.0, 0.0, side, side, **more)  # type: ignore[arg-type]


def stored(root: Root) -> dict[str, bytes]:
    """All that is published below a root, but what concerns an unsealed build."""
    return {path: root.read_bytes(path) for path in root.list("") if "/.scratch" not in f"/{path}"}
