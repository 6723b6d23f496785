"""Frame sets as they were published, taken in place of drawn ones: every frame, and no other."""

from __future__ import annotations

from collections.abc import Sequence

from ops.errors import ShiftlakeError
from ops.video.clip import Clip
from ops.video.frame_set import FrameSet
from ops.video.mining.config import MiningConfig
from ops.video.mining.neighbours import PlannedFrame, PlannedSet
from ops.video.published import frame_number


def published_anchors(sets: Sequence[FrameSet], clip: Clip, config: MiningConfig) -> list[int]:
    """Frames of the anchors, ascending.

    Raises
    ------
    ShiftlakeError
        If two sets of a clip have one anchor, a set reaches further than `config.k` frames, or
        the mining has a stride: published offsets are frames.
    """
    if config.stride != 1:
        raise ShiftlakeError(
            "Published frame sets cannot be taken with a stride.",
            expected="stride: 1, or none",
            found=f"stride: {config.stride}",
            where=clip.key,
            remedy="correct it under mining, or leave out frame_sets, in source.yaml",
        )
    anchors = sorted(frame_number(each.anchor) for each in sets)
    if len(set(anchors)) < len(anchors):
        raise ShiftlakeError(
            "Two published frame sets have one anchor.",
            expected="each anchor once",
            found=f"anchors {anchors}",
            where=clip.key,
            remedy="check the file of frame sets that source.yaml names",
        )
    for each in sets:
        anchor = frame_number(each.anchor)
        reach = max((abs(frame_number(key) - anchor) for key in each.neighbours), default=0)
        if reach > config.k:
            raise ShiftlakeError(
                "A published frame set reaches further than the mining does.",
                expected=f"neighbours within {config.k} frames of their anchor",
                found=f"one {reach} frames from frame {anchor}",
                where=clip.key,
                remedy=f"write k: {reach} under mining, in source.yaml",
            )
    return anchors


def plan_published(
    anchor: int, sets: Sequence[FrameSet], n_frames: int, config: MiningConfig
) -> PlannedSet:
    """Lay out the published set of an anchor; what the video no longer has is told."""
    found = next(each for each in sets if frame_number(each.anchor) == anchor)
    labels = {frame_number(key): found.labels[key] for key in (found.anchor, *found.neighbours)}
    planned = PlannedSet(anchor, [])
    for offset in config.offsets:
        frame = anchor + offset
        if not 0 <= frame < n_frames:
            planned.left_out[offset] = "boundary"
        elif frame not in labels:
            planned.left_out[offset] = "unlisted"
        else:
            own = tuple(sorted(labels[frame]))
            planned.frames.append(PlannedFrame(offset, frame, own, "annotated"))
    return planned
