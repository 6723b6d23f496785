"""Saturate: the saturation in HSV, times a gain plus an addend."""

from __future__ import annotations

from collections.abc import Sequence

from ops.corruptions import hsv
from ops.corruptions.kernel import Image, Level


def exact(image: Image, level: Level) -> Image:
    """In double precision."""
    changed: Image = hsv.change(image, [_change(level)])[0]
    return changed


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same bits as `exact`, hue and saturation taken once.

    With whole gains most results are whole grey levels but for rounding, and single precision
    would truncate every second one of them to the level below.
    """
    return list(hsv.change(image, [_change(level) for level in levels]))


def _change(level: Level) -> hsv.Change:
    return hsv.Change(gain=level.parameters["gain"], added_saturation=level.parameters["added"])
