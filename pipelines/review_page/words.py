"""What the pages say: the three passes, the reasons, and the keys."""

from __future__ import annotations

from typing import NamedTuple


class Pass(NamedTuple):
    """A pass of the review, in words."""

    title: str
    text: str


PASSES = {
    "anchors": Pass(
        "Anchors",
        "Is the picture usable, and does it show what it is labelled with? Name classes that are "
        "seen and not among the labels. All pairs of a bad anchor are left out.",
    ),
    "pairs": Pass(
        "Pairs",
        "Would a person call these two the same picture? They are similar if the object looks the "
        "same: same pose, same surroundings, as sharp, nothing that tells it apart in one only.",
    ),
    "joint": Pass(
        "Joint review",
        "What not everybody called similar is looked at together. More than half of the reviewers "
        "have to call it similar; two of four are not enough.",
    ),
}

REASON_WORDS = (
    ("motion", "motion"),
    ("background", "background"),
    ("blur", "blur"),
    ("distinctive", "distinctive feature"),
    ("other", "other"),
)

_LOOKING = (
    ("+ −", "zoom both pictures; so does the wheel, and a double click"),
    ("0", "the whole pictures"),
    ("L", "hide or show the labels"),
)
_FLICKER = (("space", "alternate the two in one place; held, only as long as it is held"),)
_MOVING = (
    ("N", "write a note; Enter leads back"),
    ("Z", "undo the last decision"),
    ("← →", "back and forward through what you decided; a new verdict replaces the old"),
    ("?", "this list"),
)
_PAIR = (
    ("S", "similar"),
    ("D", "dissimilar: then 1 to 5 name the reasons, Enter confirms, Esc takes it back"),
    ("W", "wrong label"),
    ("U", "unsure"),
)

KEYS = {
    "anchors": (
        ("A", "accept: usable"),
        ("B", "bad: all its pairs are left out"),
        ("U", "unsure"),
        ("T", "type a missing label; Enter takes the marked one, Enter again leads back"),
        *_LOOKING,
        *_MOVING,
    ),
    "pairs": (*_PAIR, ("B", "the anchor itself is bad"), *_FLICKER, *_LOOKING, *_MOVING),
    "joint": (
        ("1 … 9", "change the vote of the first to ninth reviewer, as they say it"),
        ("↵", "record everybody's vote as it is shown, and go on"),
        *_PAIR,
        ("A B", "of an anchor: accept, bad"),
        *_FLICKER,
        *_LOOKING,
        *_MOVING,
    ),
}
