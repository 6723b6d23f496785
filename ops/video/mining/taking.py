"""Take the frames of one set out of an open video: their JPEG bytes, and how alike they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ops.video.mining.config import MiningConfig
from ops.video.mining.cuts import cuts
from ops.video.mining.neighbours import PlannedFrame, PlannedSet
from ops.video.mining.seen import finite
from ops.video.mining.similarity import Look, Similarity, compare, look
from ops.video.mining.tables import Reason

if TYPE_CHECKING:
    from ops.video.decoding import Picture, Video


@dataclass(frozen=True)
class TakenFrame:
    """A frame of a set as it will be stored.

    Attributes
    ----------
    planned : PlannedFrame
    jpeg : bytes
    sha256 : str
        Of `jpeg`.
    seconds : float or None
        From the first frame of the video; None where its rate is unknown.
    pict_type : str or None
        I, P or B, where the codec tells.
    width, height : int
    similarity : Similarity or None
        To the anchor; None for the anchor itself.
    """

    planned: PlannedFrame
    jpeg: bytes
    sha256: str
    seconds: float | None
    pict_type: str | None
    width: int
    height: int
    similarity: Similarity | None


@dataclass(frozen=True)
class TakenSet:
    """A set after decoding; without frames where its anchor could not be had.

    Attributes
    ----------
    anchor : int
        Its frame.
    frames : list of TakenFrame
        By offset.
    left_out : dict of int to (Reason, str or None)
        The other offsets, with what exactly was wrong, where that is known.
    """

    anchor: int
    frames: list[TakenFrame] = field(default_factory=list)
    left_out: dict[int, tuple[Reason, str | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Kept:
    """What stays of a picture once its pixels are gone."""

    jpeg: bytes
    seconds: float | None
    pict_type: str | None
    width: int
    height: int
    look: Look


def take_set(video: Video, planned: PlannedSet, config: MiningConfig) -> TakenSet:
    """Decode the frames of a set, and leave out those that are damaged or behind a cut.

    Where the anchor is damaged the whole set fails: its other frames are left out for that.
    """
    taken = TakenSet(planned.anchor)
    taken.left_out.update({at: (reason, None) for at, reason in planned.left_out.items()})
    kept: dict[int, _Kept] = {}
    offsets = {each.frame: each.offset for each in planned.frames}
    # One picture at a time: a set of 21 at 3840 x 2160 would be 520 MB of pixels.
    for picture in video.pictures(list(offsets)):
        offset = offsets[picture.index]
        if picture.pixels is None or picture.problem is not None:
            taken.left_out[offset] = ("damaged", picture.problem or "it cannot be decoded")
        else:
            kept[offset] = _kept(picture, config)
    for each in planned.frames:
        if each.offset not in kept and (each.offset == 0 or 0 in kept):
            taken.left_out.setdefault(each.offset, ("damaged", "it was not decoded"))
    if 0 not in kept:
        for each in planned.frames:
            taken.left_out.setdefault(each.offset, ("anchor", None))
        return TakenSet(planned.anchor, [], dict(sorted(taken.left_out.items())))
    if config.cuts:
        for offset in _behind_cuts(kept):
            taken.left_out[offset] = ("cut", None)
            del kept[offset]
    anchor = kept[0]
    for each in planned.frames:
        if (found := kept.get(each.offset)) is not None:
            similarity = compare(anchor.look, found.look) if each.offset else None
            taken.frames.append(_taken(each, found, similarity))
    return TakenSet(planned.anchor, taken.frames, dict(sorted(taken.left_out.items())))


def _kept(picture: Picture, config: MiningConfig) -> _Kept:
    from ops.video.decoding import frame_jpeg

    assert picture.pixels is not None
    height, width = picture.pixels.shape[:2]
    return _Kept(
        jpeg=frame_jpeg(picture, config.quality),
        seconds=finite(picture.seconds),
        pict_type=picture.pict_type,
        width=width,
        height=height,
        look=look(picture.pixels),
    )


def _taken(planned: PlannedFrame, kept: _Kept, similarity: Similarity | None) -> TakenFrame:
    return TakenFrame(
        planned=planned,
        jpeg=kept.jpeg,
        sha256=hashlib.sha256(kept.jpeg).hexdigest(),
        seconds=kept.seconds,
        pict_type=kept.pict_type,
        width=kept.width,
        height=kept.height,
        similarity=similarity,
    )


def _behind_cuts(kept: dict[int, _Kept]) -> list[int]:
    """Offsets that a cut parts from the anchor: the first frame behind it, and all beyond."""
    offsets = sorted(kept)
    firsts = [offsets[at] for at in cuts([kept[offset].look for offset in offsets])]
    begin = max((first for first in firsts if first <= 0), default=offsets[0])
    end = min((first for first in firsts if first > 0), default=offsets[-1] + 1)
    return [offset for offset in offsets if not begin <= offset < end]
