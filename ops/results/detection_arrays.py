"""From stored rows to arrays: frames of scored sets, their true boxes, and what was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.metrics.detection import Detections, SetFrames, Truth

SIDES = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True)
class DetectionArrays:
    """What :func:`ops.metrics.detection.pm_k_map` takes, of one detector on one dataset.

    Attributes
    ----------
    frames : SetFrames
        Of the F frames with annotated boxes, in sets whose anchor has them.
    truth : Truth
    detections : Detections
    video : ndarray of int64, shape (S,)
        Numbers the video of every set.
    n_left_out : int
        Sets whose anchor has no annotated boxes: they cannot be scored.
    """

    frames: SetFrames
    truth: Truth
    detections: Detections
    video: NDArray[np.int64]
    n_left_out: int


def detection_arrays(
    frames: pa.Table, boxes: pa.Table, accepted: frozenset[str] | None = None
) -> DetectionArrays:
    """Arrays of one detector on one dataset.

    Parameters
    ----------
    frames : pyarrow.Table
        The table ``frames`` of a mining.
    boxes : pyarrow.Table
        Of the schema `DETECTIONS`.
    accepted : frozenset of str, optional
        Keys of the frames that reviewers accepted; all frames without it.

    Raises
    ------
    ShiftlakeError
        If a key is accepted that was not mined.
    """
    frames = frames.sort_by("sample_key").combine_chunks()
    if accepted is not None:
        known = pc.is_in(frames["sample_key"], value_set=pa.array(sorted(accepted), pa.string()))
        frames = frames.filter(known)
        if frames.num_rows != len(accepted):
            raise ShiftlakeError(
                "Reviewed frames are none of the mined ones.",
                expected=f"{len(accepted):,} mined frames",
                found=f"{frames.num_rows:,} of them",
                where="reviewed frame sets",
                remedy="seal the reviewed frame sets again",
            )
    # Of a frame without annotated boxes nobody knows what is in it: what is found there may be
    # right. Annotated without a box it is empty, and what is found there is wrong.
    frames = frames.filter(pc.is_valid(frames["boxes"]))
    anchors = frames.filter(pc.equal(frames["frame_offset"], 0))["frame_set"]
    with_anchor = pc.is_in(frames["frame_set"], value_set=anchors.combine_chunks())
    n_sets = pc.count_distinct(frames["frame_set"]).as_py()
    frames = frames.filter(with_anchor).combine_chunks()
    names = np.asarray(frames["frame_set"].to_numpy(zero_copy_only=False), object)
    _, first, set_ = np.unique(names, return_index=True, return_inverse=True)
    videos = np.asarray(frames["video"].to_numpy(zero_copy_only=False), object)[first]
    offsets = frames["frame_offset"].to_numpy().astype(np.int64)
    return DetectionArrays(
        frames=SetFrames(set_.astype(np.int64), offsets),
        truth=_truth(frames),
        detections=_detections(frames, boxes),
        video=np.unique(videos, return_inverse=True)[1].astype(np.int64),
        n_left_out=n_sets - int(first.size),
    )


def _truth(frames: pa.Table) -> Truth:
    lists = _one(frames["boxes"])
    times = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    boxes = lists.flatten()
    return Truth(
        np.repeat(np.arange(frames.num_rows), times).astype(np.int64),
        pc.struct_field(boxes, "label").to_numpy(zero_copy_only=False).astype(np.int64),
        _sides([pc.struct_field(boxes, side) for side in SIDES]),
    )


def _detections(frames: pa.Table, boxes: pa.Table) -> Detections:
    place = pc.index_in(boxes["sample_key"], value_set=_one(frames["sample_key"]))
    here = pc.is_valid(place)
    boxes = boxes.filter(here)
    return Detections(
        place.drop_null().to_numpy().astype(np.int64),
        boxes["label"].to_numpy().astype(np.int64),
        _sides([boxes[side] for side in SIDES]),
        boxes["score"].to_numpy().astype(np.float64),
    )


def _sides(columns: list[pa.Array]) -> NDArray[np.float64]:
    found = [np.asarray(column.to_numpy(zero_copy_only=False), np.float64) for column in columns]
    return np.stack(found, axis=1)


def _one(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)
