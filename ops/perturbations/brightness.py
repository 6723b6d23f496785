"""Brightness: the value in HSV raised from frame to frame, from dark to bright."""

from __future__ import annotations

from ops.corruptions.hsv import Change, change
from ops.perturbations.kernel import Frames, Level
from ops.perturbations.source import Source


def exact(source: Source, level: Level) -> Frames:
    """In double precision, in scikit-image's order of operations."""
    added = [Change(added_value=percent / 100.0) for percent in level.sweep("percent")]
    return change(source.clean, added)


fast = exact
