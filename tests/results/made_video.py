"""Mined and reviewed frame sets made by hand: a manifest, the tables beside it, and a review."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from made_lake import Lake, Row
from mined_tables import seal_tables

from ops.shards import Manifest
from ops.storage import paths
from ops.video.review import Event, Review, freeze, seal_reviewed

Frame = dict[str, Any]


def frame(
    clip: str, anchor: int, offset: int, labels: list[int], video: str | None = None, **own: Any
) -> Frame:
    """A mined frame; `own` are columns of the table of frames."""
    name = f"{clip}/{anchor:06d}"
    return {
        "clip": clip,
        "video": video or clip,
        "frame_set": name,
        "sample_key": f"{name}/{anchor + offset:06d}",
        "frame_offset": offset,
        "frame": anchor + offset,
        "labels": labels,
        "label_source": "annotated",
        "annotated": True,
        "fps": 30.0,
        "dt": offset / own.get("fps", 30.0),
        "pict_type": "P",
        "sha256": hashlib.sha256(f"{name} {offset}".encode()).hexdigest(),
        **own,
    }


def mined(
    lake: Lake,
    source: str,
    frames: list[Frame],
    version: str = "v1",
    *,
    k: int = 10,
    stride: int = 1,
) -> Manifest:
    """Seal frames as ``frame_sets/<source>``, with the tables a mining leaves beside them."""
    name = f"frame_sets/{source}"
    space = "imagenet_vid30"
    sealed = lake.dataset(name, len(frames), version=version, label_space=space).version
    rows: dict[str, list[Row]] = {
        "frames": sorted(frames, key=lambda each: each["sample_key"]),
        "pairs": [
            {name: each[name] for name in ("frame_set", "frame_offset", "sample_key")}
            | {"suspicion": 0.5, "suggested": "motion"}
            for each in frames
            if each["frame_offset"]
        ],
        "videos": [
            {"clip": clip, "video": clip, "file": f"{clip}.mp4", "status": "ok"}
            for clip in sorted({each["clip"] for each in frames})
        ],
        "left_out": [
            {"frame_set": each["frame_set"], "frame_offset": 10, "reason": "boundary"}
            for each in frames
            if each["frame_offset"] == 0
        ],
    }
    seals = seal_tables(lake.root, source, sealed, rows)
    renderer = {"name": "mining", "version": "1", "form": "stored", "tables": seals}
    manifest = lake.dataset(
        name,
        len(frames),
        n_shards=1,
        version=version,
        label_space=space,
        parameters={"k": k, "stride": stride, "rule": "frame"},
        renderer=renderer,
    )
    shard = manifest.shards[0].model_copy(update={"n_samples": len(frames)})
    manifest = manifest.model_copy(update={"shards": (shard,)})
    lake.root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    return manifest


def answers(frames: list[Frame], preds: list[int | None]) -> list[Row]:
    """Prediction rows of frames; None is a frame that could not be read."""
    rows = []
    for each, pred in zip(frames, preds, strict=True):
        rank = None if pred is None else 1 if pred in each["labels"] else 2 + pred
        row = {
            "sample_key": each["sample_key"],
            "source_key": each["video"],
            "labels": each["labels"],
            "pred": pred,
            "correct": pred in each["labels"],
            "rank_of_label": rank,
            "frame_set": each["frame_set"],
            "frame_offset": each["frame_offset"],
        }
        if pred is None:
            row |= {"status": "decode_error", "error": "cut"}
        rows.append(row)
    return rows


def reviewed(
    lake: Lake,
    catalog: Any,
    source: str,
    *,
    bad: tuple[str, ...] = (),
    dissimilar: tuple[str, ...] = (),
    labels: dict[str, tuple[int, ...]] | None = None,
) -> Manifest:
    """Review every frame of a source, freeze that, and seal it.

    `bad` are frame sets whose anchor is refused, `dissimilar` sample keys of pairs that two people
    reject, `labels` what is added to anchors.
    """
    review = Review.open(lake.root, source, catalog)

    def event(kind: str, subject: str, verdict: str, **own: Any) -> Event:
        return Event(
            id=uuid.uuid5(uuid.NAMESPACE_OID, f"{kind} {subject}").hex,
            kind=kind,
            reviewer="ada",
            mined_version=review.mined_version,
            subject=subject,
            verdict=verdict,
            **own,
        )

    events = []
    for item in review.anchors:
        own = (labels or {}).get(item.frame_set, ())
        refused = item.frame_set in bad
        verdict = "bad" if refused else "usable"
        events.append(event("anchor", item.frame_set, verdict, **({"labels": own} if own else {})))
    review.record(events)
    events = []
    for pair in review.pairs:
        if pair.frame_set not in bad:
            apart = pair.sample_key in dissimilar
            verdict = "dissimilar" if apart else "similar"
            events.append(event("pair", pair.sample_key, verdict))
            if apart:
                events.append(event("joint", pair.sample_key, verdict))
    review.record(events)
    frozen = freeze(lake.root, source, catalog, allow_pending=True)
    return seal_reviewed(lake.root, catalog, source, frozen.version)
