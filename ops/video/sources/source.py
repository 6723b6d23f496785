"""What every source of videos can tell."""

from __future__ import annotations

from typing import Literal, Protocol

from ops.video.clip import Clip
from ops.video.frame_set import FrameSet
from ops.video.mining.config import MiningConfig
from ops.video.sources.entry import SourceEntry

LabelRule = Literal["frame", "anchor"]


class VideoSource(Protocol):
    """A source of labelled videos.

    It travels to other processes without what it has read; there it reads that again.

    Attributes
    ----------
    name : str
        Of its folder.
    entry : SourceEntry
        What ``source.yaml`` says.
    label_space : str
    rule : {"frame", "anchor"}
        Whether a neighbour has labels of its own, or those of its anchor.
    """

    @property
    def name(self) -> str:
        """Name of the source."""
        ...

    @property
    def entry(self) -> SourceEntry:
        """What ``source.yaml`` says."""
        ...

    @property
    def label_space(self) -> str:
        """Of all labels."""
        ...

    @property
    def rule(self) -> LabelRule:
        """Whose labels a neighbour has."""
        ...

    def with_mining(self, mining: MiningConfig) -> VideoSource:
        """The same source, mined in another way than its entry says."""
        ...

    def keys(self) -> tuple[str, ...]:
        """Keys of all clips that the labels name, ascending, whether their video is there or not.

        Raises
        ------
        ShiftlakeError
            If the labels cannot be read; the message says the line and what was expected.
        """
        ...

    def clip(self, key: str) -> Clip:
        """A clip with its annotations.

        Where the video is missing, the clip has no path and says so in `problem`; where the
        annotations of this one clip cannot be read, `problem` says why, too.

        Raises
        ------
        ShiftlakeError
            If there is no such clip.
        """
        ...

    def missing(self) -> tuple[str, ...]:
        """Names of the videos that are not there, by clip key; no annotation is read for it."""
        ...

    def frame_sets(self, key: str) -> tuple[FrameSet, ...] | None:
        """Published frame sets of a clip, to take in place of drawn ones.

        The keys of a set are ``<video>/<number of the frame in the video>``.

        Returns
        -------
        tuple of FrameSet or None
            None where the source names none and they are to be drawn.
        """
        ...

    def fingerprint(self) -> str:
        """sha256 over all that determines the labels: their files and what the entry says.

        Neither a video nor where anything lies is part of it.
        """
        ...
