"""The frames around an anchor, and why some places of a set stay empty, before any is decoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ops.video.mining.config import MiningConfig
from ops.video.mining.seen import SeenFrames
from ops.video.mining.tables import Reason

LabelRule = Literal["frame", "anchor"]
LabelSource = Literal["annotated", "propagated"]


@dataclass(frozen=True)
class PlannedFrame:
    """A frame that a set wants: where it stands, and the labels it will have."""

    offset: int
    frame: int
    labels: tuple[int, ...]
    label_source: LabelSource


@dataclass(frozen=True)
class PlannedSet:
    """A set before decoding.

    Attributes
    ----------
    anchor : int
        Its frame.
    frames : list of PlannedFrame
        The anchor among them, in the order of presentation.
    left_out : dict of int to Reason
        The other offsets.
    """

    anchor: int
    frames: list[PlannedFrame]
    left_out: dict[int, Reason] = field(default_factory=dict)


def plan_set(
    anchor: int,
    seen: SeenFrames,
    seconds: npt.NDArray[np.float64],
    fps: float,
    config: MiningConfig,
    rule: LabelRule,
) -> PlannedSet:
    """Choose the frames around an anchor.

    Parameters
    ----------
    anchor : int
    seen : SeenFrames
    seconds : float array, shape (n_frames,)
    fps : float
    config : MiningConfig
    rule : {"frame", "anchor"}
        Whether a neighbour has its own labels, where they are known, or always the anchor's.

    Returns
    -------
    PlannedSet
        Its frames and what was left out are ``2k + 1`` together.
    """
    labels = seen.labels(anchor) or ()
    planned = PlannedSet(anchor, [])
    for offset in config.offsets:
        frame = anchor + offset * config.stride
        source: LabelSource = "propagated" if seen.annotated(frame) is None else "annotated"
        if offset == 0:
            planned.frames.append(PlannedFrame(0, anchor, labels, source))
            continue
        if not 0 <= frame < len(seconds):
            planned.left_out[offset] = "boundary"
            continue
        known = seen.labels(frame, as_at=anchor)
        if known is not None and not _agree(labels, known, config):
            planned.left_out[offset] = "label"
        elif _gap(seconds, anchor, frame, fps, config):
            planned.left_out[offset] = "gap"
        elif rule == "frame" and (own := seen.labels(frame)) is not None:
            planned.frames.append(PlannedFrame(offset, frame, own, source))
        else:
            planned.frames.append(PlannedFrame(offset, frame, labels, "propagated"))
    return planned


def _agree(anchor: tuple[int, ...], other: tuple[int, ...], config: MiningConfig) -> bool:
    """Whether a neighbour's labels fit its anchor's; what a set is for are the wanted classes."""
    if config.label_rule == "equal":
        return anchor == other
    common = set(anchor) & set(other)
    return bool(common if config.classes is None else common & set(config.classes))


def _gap(
    seconds: npt.NDArray[np.float64], anchor: int, frame: int, fps: float, config: MiningConfig
) -> bool:
    """Whether time jumps anywhere on the way from the anchor to the frame."""
    if config.max_gap is None or not fps > 0:
        return False
    first, last = sorted((anchor, frame))
    steps = np.diff(seconds[first : last + 1])
    # A thousandth of a frame: containers round their times.
    return bool(steps.max() > (config.max_gap + 0.001) / fps)
