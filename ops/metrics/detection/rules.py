"""The choices that a mean average precision hides behind its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Interpolation = Literal["101-point", "11-point", "all-point"]


@dataclass(frozen=True)
class Rule:
    """When a box is found, and how precision is averaged.

    Attributes
    ----------
    name : str
        Names the rule in results.
    interpolation : {"101-point", "11-point", "all-point"}
        Recalls at which the interpolated precision is averaged: 0, 0.01 ... 1 (COCO), 0, 0.1 ... 1
        (VOC 2007), or the whole area (VOC 2010 and later, ILSVRC).
    at_most : int or None
        Detections of a frame and class that count, those of the highest scores.
    least_overlap : float
        Smallest intersection over union of a match.
    small_objects : bool
        ILSVRC: a true box of `w` times `h` pixels only has to be met by
        ``min(least_overlap, w h / ((w + 10) (h + 10)))``.
    pixel : float
        Added to widths and heights; ILSVRC's boxes name their last pixel.
    last_of_equal : bool
        Which of several free true boxes that overlap equally is taken: the last, as in
        pycocotools, or the first, as in ILSVRC's evaluation.
    """

    name: str
    interpolation: Interpolation
    at_most: int | None = 100
    least_overlap: float = 0.5
    small_objects: bool = False
    pixel: float = 0.0
    last_of_equal: bool = True


COCO = Rule("101-point", "101-point")
ALL_POINT = Rule("all-point", "all-point")
ELEVEN_POINT = Rule("11-point", "11-point")
ILSVRC_VID = Rule(
    "ilsvrc_vid",
    "all-point",
    at_most=None,
    small_objects=True,
    pixel=1.0,
    last_of_equal=False,
)
# The first is what a number means where nothing else is said.
RULES = {rule.name: rule for rule in (COCO, ALL_POINT, ELEVEN_POINT, ILSVRC_VID)}
