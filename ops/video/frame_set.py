"""A frame set: an anchor, the frames around it that stand for the same picture, and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FrameSet:
    """An anchor and its neighbours.

    Attributes
    ----------
    anchor : str
        Key of the anchor's frame.
    neighbours : tuple of str
        Keys of the other frames in the order of presentation; may be empty, never holds the anchor.
    labels : mapping of str to tuple of int
        Accepted labels of the anchor and of every neighbour, by key.
    """

    anchor: str
    neighbours: tuple[str, ...]
    labels: Mapping[str, tuple[int, ...]]
