"""What there is to review of one mining: its anchors, and a pair for every other frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ops.storage import Root
from ops.video.mining.tables import read_mined


class AnchorItem(NamedTuple):
    """An anchor.

    Attributes
    ----------
    frame_set : str
        ``<clip>/<anchor frame>``; names it everywhere.
    sample_key : str
        Of its frame.
    labels : tuple of int
        As mined.
    video : str
        Frame sets of one video are not independent.
    sha256 : str
        Of its JPEG.
    seconds : float
        From the first frame of the video.
    """

    frame_set: str
    sample_key: str
    labels: tuple[int, ...]
    video: str
    sha256: str
    seconds: float = 0.0


class PairItem(NamedTuple):
    """An anchor and one of its neighbours.

    Attributes
    ----------
    sample_key : str
        Of the neighbour; names the pair everywhere.
    frame_set : str
    anchor : str
        Sample key of the anchor.
    frame_offset : int
        In steps of the stride, never 0.
    labels : tuple of int
        Of the neighbour, as mined.
    suspicion : float
        In [0, 1]: how early it should be looked at. Decides nothing.
    suggested : str
        The likeliest reason, were it dissimilar; to be shown after the verdict only.
    dt : float
        Seconds from the anchor.
    sha256 : str
        Of the neighbour's JPEG.
    """

    sample_key: str
    frame_set: str
    anchor: str
    frame_offset: int
    labels: tuple[int, ...]
    suspicion: float
    suggested: str
    dt: float
    sha256: str


_OF_FRAMES = (
    "sample_key",
    "frame_set",
    "frame_offset",
    "labels",
    "video",
    "dt",
    "sha256",
    "seconds",
)


def read_items(
    root: Root, source: str, version: str
) -> tuple[tuple[AnchorItem, ...], tuple[PairItem, ...]]:
    """Read what a mining left to review.

    Parameters
    ----------
    root : Root
    source : str
    version : str
        Of the mining.

    Returns
    -------
    anchors : tuple of AnchorItem
        Ascending by frame set.
    pairs : tuple of PairItem
        Ascending by sample key.

    Raises
    ------
    ShiftlakeError
        If the tables of the mining are missing or are not those that were sealed.
    """
    frames = list(_rows(read_mined(root, source, "frames", version), _OF_FRAMES))
    scored_by = ("sample_key", "suspicion", "suggested")
    scores = _rows(read_mined(root, source, "pairs", version), scored_by)
    scored = {key: (suspicion, suggested) for key, suspicion, suggested in scores}
    anchors = [
        AnchorItem(frame_set, key, tuple(labels), video, sha256, seconds or 0.0)
        for key, frame_set, offset, labels, video, _, sha256, seconds in frames
        if offset == 0
    ]
    keys = {anchor.frame_set: anchor.sample_key for anchor in anchors}
    pairs = []
    for key, frame_set, offset, labels, _, dt, sha256, _ in frames:
        if offset != 0:
            suspicion, suggested = scored.get(key, (0.0, "other"))
            item = PairItem(
                key,
                frame_set,
                keys[frame_set],
                offset,
                tuple(labels),
                suspicion or 0.0,
                suggested or "other",
                dt or 0.0,
                sha256,
            )
            pairs.append(item)
    return (
        tuple(sorted(anchors, key=lambda item: item.frame_set)),
        tuple(sorted(pairs, key=lambda item: item.sample_key)),
    )


def _rows(table: Any, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)
