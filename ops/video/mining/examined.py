"""What the first look at a video found, before a picture of it is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ops.video.mining.identity import Stamp


@dataclass(frozen=True)
class ExaminedClip:
    """What mining knows of a clip before it decodes a picture of it.

    Attributes
    ----------
    key : str
    row : dict
        Its row of the table of videos, as far as it is known.
    anchors : tuple of int
        Frames, ascending.
    pixels : int
        Of one picture.
    stamp : Stamp or None
        To see that the file is still the same later on.
    decoded : bool
        Whether a decoder makes its pixels: those of numbered pictures are published.
    """

    key: str
    row: dict[str, Any]
    anchors: tuple[int, ...] = ()
    pixels: int = 0
    stamp: Stamp | None = None
    decoded: bool = False
