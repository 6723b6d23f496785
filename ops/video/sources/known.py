"""What all sources have in common: a folder, a name, an entry, and how they travel."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Self, TypeVar

from ops.errors import ShiftlakeError
from ops.video.frame_set import FrameSet
from ops.video.mining.config import MiningConfig
from ops.video.sources.entry import SourceEntry

Found = TypeVar("Found")


class Known:
    """A source whose entry is known; subclasses read its labels.

    Parameters
    ----------
    folder : Path
        Of ``source.yaml``, to which its paths are relative.
    name : str
    entry : SourceEntry
    """

    def __init__(self, folder: Path, name: str, entry: SourceEntry) -> None:
        self.folder = folder
        self.name = name
        self.entry: SourceEntry = entry

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # What was read stays behind: labels of a large source are larger than their file.
        return type(self), (self.folder, self.name, self.entry)

    @property
    def label_space(self) -> str:
        """Of all labels."""
        return self.entry.label_space

    def with_mining(self, mining: MiningConfig) -> Self:
        """The same source, mined in another way than its entry says."""
        return type(self)(self.folder, self.name, self.entry.model_copy(update={"mining": mining}))

    def frame_sets(self, key: str) -> tuple[FrameSet, ...] | None:
        """None: anchors are drawn."""
        return None

    def _of(self, clips: Mapping[str, Found], key: str) -> Found:
        """What is known of a clip, or an error that names the nearest."""
        if key in clips:
            return clips[key]
        near = get_close_matches(key, clips, 1, 0.6)
        raise ShiftlakeError(
            "The source has no such clip.",
            expected=f"perhaps {near[0]}" if near else f"one of {len(clips):,} clips",
            found=key[:200],
            where=f"source {self.name}",
            remedy="shiftlake video check lists the clips of a source",
        )

    def _hash(self, file: str) -> str:
        with (self.folder / file).open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
