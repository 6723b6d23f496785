"""Rows of a labels file, checked: which video, which moment, which classes, which boxes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ops.video.clip import Box
from ops.video.sources.clip_key import refusal
from ops.video.sources.label_names import index_of_label

COORDINATES = ("xmin", "ymin", "xmax", "ymax")
FIELDS = frozenset(("video", "frame", "seconds", "labels", "boxes"))
BOX_FIELDS = frozenset(("label", *COORDINATES, "track", "occluded", "generated"))
MOST_LABELS = 100
MOST_BOXES = 1000
# Three years at a thousand frames a second; a hundred days.
_MOST_FRAMES = 10**11
_MOST_SECONDS = 1e7
_MOST_PIXELS = 1e6


@dataclass(frozen=True)
class LabelRow:
    """One row: a moment of a video, or all of it where `frame` and `seconds` are None."""

    video: str
    frame: int | None
    seconds: float | None
    labels: tuple[int, ...]
    boxes: tuple[Box, ...] | None

    @property
    def moment(self) -> str:
        """What the row is about, as a person would say it."""
        if self.frame is not None:
            return f"frame {self.frame}"
        return "the whole video" if self.seconds is None else f"{self.seconds:g} s"


def label_row(given: Mapping[str, object], label_space: str, *, shares: bool) -> LabelRow:
    """Check one row.

    Parameters
    ----------
    given : mapping
        Of `FIELDS`: `video`; `frame` or `seconds` or neither; `labels`, one or a list of names,
        WordNet ids or indices; `boxes`, a list of mappings of `BOX_FIELDS`.
    label_space : str
    shares : bool
        Whether coordinates are shares of width and height, and not pixels.

    Returns
    -------
    LabelRow
        Labels ascending, those of boxes among them.

    Raises
    ------
    ValueError
        The message begins with what was expected.
    """
    _only(given, FIELDS, "row")
    video = given.get("video")
    if not isinstance(video, str):
        raise ValueError(f"expected the name of a file for video, not {video!r:.80}")
    if why := refusal(video):
        raise ValueError(f"expected a path below the folder of videos, not {why}: {video!r:.80}")
    frame = _frame(given.get("frame"))
    seconds = _seconds(given.get("seconds"))
    if frame is not None and seconds is not None:
        raise ValueError("expected a frame or a time in seconds, not both")
    boxes = _boxes(given.get("boxes"), label_space, shares)
    if boxes is not None and frame is None and seconds is None:
        raise ValueError("expected a frame or a time in seconds for boxes")
    written = given.get("labels")
    if written is None and boxes is None:
        raise ValueError("expected labels or boxes, not neither")
    listed = _listed(written)
    if len(listed) > MOST_LABELS:
        raise ValueError(f"expected at most {MOST_LABELS} labels, not {len(listed):,}")
    labels = {index_of_label(each, label_space) for each in listed}
    labels |= {box.label for box in boxes or ()}
    return LabelRow(video, frame, seconds, tuple(sorted(labels)), boxes)


def _only(given: Mapping[str, object], known: frozenset[str], what: str) -> None:
    for name in given:
        if name not in known:
            fields = ", ".join(sorted(known))
            raise ValueError(f"expected only {fields} in a {what}, not {name!r:.80}")


def _listed(written: object) -> Sequence[object]:
    if written is None:
        return ()
    return written if isinstance(written, list) else [written]


def _frame(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_FRAMES:
        raise ValueError(f"expected the number of a frame, from 0, not {value!r:.80}")
    return value


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    return _finite(value, "seconds, from 0, such as 12.4", 0, _MOST_SECONDS)


def _finite(value: object, what: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number of {what}, not {value!r:.80}")
    # A huge integer has no float; infinities and NaN fall out of the comparison.
    if not least <= value <= most or math.isnan(value):
        raise ValueError(f"expected {what}, {least:g} to {most:g}, not {str(value)[:40]}")
    return float(value)


def _boxes(given: object, label_space: str, shares: bool) -> tuple[Box, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise ValueError(f"expected a list of boxes, not {given!r:.80}")
    if len(given) > MOST_BOXES:
        raise ValueError(f"expected at most {MOST_BOXES:,} boxes, not {len(given):,}")
    return tuple(_box(each, label_space, shares) for each in given)


def _box(given: object, label_space: str, shares: bool) -> Box:
    if not isinstance(given, Mapping):
        raise ValueError(f"expected a box with label, {', '.join(COORDINATES)}, not {given!r:.80}")
    _only(given, BOX_FIELDS, "box")
    what = "of the width or height" if shares else "pixels"
    least, most = (0.0, 1.0) if shares else (-_MOST_PIXELS, _MOST_PIXELS)
    xmin, ymin, xmax, ymax = (
        _finite(given.get(name), f"{what} for {name}", least, most) for name in COORDINATES
    )
    if xmin >= xmax or ymin >= ymax:
        raise ValueError(
            f"expected xmin < xmax and ymin < ymax, not {xmin:g}, {ymin:g}, {xmax:g}, {ymax:g}"
        )
    track = given.get("track")
    if track is not None and (isinstance(track, bool) or not isinstance(track, str | int)):
        raise ValueError(f"expected a name or number for track, not {track!r:.80}")
    for name in ("occluded", "generated"):
        if given.get(name) is not None and not isinstance(given[name], bool):
            raise ValueError(f"expected true or false for {name}, not {given[name]!r:.80}")
    return Box(
        index_of_label(given.get("label"), label_space),
        xmin,
        ymin,
        xmax,
        ymax,
        track=None if track is None else str(track)[:200],
        occluded=given.get("occluded"),
        generated=given.get("generated"),
    )
