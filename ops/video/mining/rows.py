"""A taken set as it is stored: its samples, and its rows in the tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ops.shards.sample import Sample, media_format
from ops.video.clip import Box, Clip
from ops.video.datasets import MINED
from ops.video.mining.seen import SeenFrames, finite
from ops.video.mining.tables import SEPARATOR
from ops.video.mining.taking import TakenFrame, TakenSet

Rows = dict[str, list[dict[str, Any]]]


def frame_set_key(clip: str, anchor: int) -> str:
    """Key of a set, ``<clip>/<frame of the anchor>``: the folder of its samples."""
    return f"{clip}{SEPARATOR}{anchor:06d}"


def samples_of(
    taken: TakenSet, clip: Clip, seen: SeenFrames, fps: float, source: str
) -> tuple[list[Sample], Rows]:
    """Samples of a set in the order of their keys, and its rows without source and version."""
    frame_set = frame_set_key(clip.key, taken.anchor)
    rows: Rows = {"frames": [], "left_out": [], "pairs": []}
    zero = next((each.seconds for each in taken.frames if each.planned.offset == 0), None)
    found = []
    for each in taken.frames:
        row = _row(each, frame_set, clip, seen, fps, zero)
        rows["frames"].append(row)
        found.append(_sample(each, row, clip, source))
        if each.similarity is not None:
            pair = {name: row[name] for name in ("frame_set", "frame_offset", "sample_key")}
            rows["pairs"].append(pair | asdict(each.similarity))
    for offset, (reason, detail) in taken.left_out.items():
        left = {"frame_set": frame_set, "frame_offset": offset, "reason": reason}
        rows["left_out"].append(left | {"detail": detail})
    # Behind frame 999,999 the order of the keys is not that of the frames.
    for name in ("frames", "pairs"):
        rows[name].sort(key=lambda row: row["sample_key"])
    return sorted(found, key=lambda sample: sample.key), rows


def _row(
    taken: TakenFrame,
    frame_set: str,
    clip: Clip,
    seen: SeenFrames,
    fps: float,
    zero: float | None,
) -> dict[str, Any]:
    planned, seconds = taken.planned, taken.seconds
    annotated = seen.annotated(planned.frame)
    boxes = None if annotated is None or annotated.boxes is None else annotated.boxes
    return {
        "sample_key": f"{frame_set}/{planned.frame:06d}",
        "frame_set": frame_set,
        "frame_offset": planned.offset,
        "clip": clip.key,
        "video": clip.video,
        "frame": planned.frame,
        "seconds": seconds,
        "dt": None if seconds is None or zero is None else round(seconds - zero, 6),
        "pict_type": taken.pict_type,
        "labels": list(planned.labels),
        "label_source": planned.label_source,
        "boxes": None if boxes is None else [_box(box) for box in boxes],
        "annotated": annotated is not None,
        "width": taken.width,
        "height": taken.height,
        "fps": finite(fps),
        "sha256": taken.sha256,
    }


def _box(box: Box) -> dict[str, Any]:
    return {
        "label": box.label,
        "xmin": float(box.xmin),
        "ymin": float(box.ymin),
        "xmax": float(box.xmax),
        "ymax": float(box.ymax),
        "track": box.track,
        "occluded": box.occluded,
        "generated": box.generated,
    }


def _sample(taken: TakenFrame, row: dict[str, Any], clip: Clip, source: str) -> Sample:
    """The sample of a frame; its JSON member has the row's fields and those every sample has."""
    told = {
        name: value
        for name, value in row.items()
        if name not in ("sample_key", "clip", "video", "annotated", "boxes")
    }
    if row["boxes"] is not None:
        told["boxes"] = row["boxes"]
    meta = {
        "benchmark": MINED,
        "condition": source,
        # Sets of one video are not independent: intervals are clustered by this.
        "source_key": clip.video,
        "source_file": clip.file.rpartition("/")[2],
        "format": media_format(taken.jpeg),
        **told,
    }
    return Sample(row["sample_key"], taken.jpeg, "jpg", None, meta)
