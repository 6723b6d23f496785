"""A mined source without videos: its manifest and tables, as mining leaves them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from mined_tables import seal_tables

from ops.shards.manifest import Manifest, histogram_hash, version_of
from ops.storage import Root, paths

Sets = Mapping[tuple[str, int], Sequence[int]]


def frame_set(clip: str, anchor: int) -> str:
    return f"{clip}/{anchor:06d}"


def key(clip: str, anchor: int, frame: int) -> str:
    return f"{clip}/{anchor:06d}/{frame:06d}"


def mine_by_hand(
    root: Root,
    source: str,
    sets: Sets,
    *,
    label_space: str = "imagenet_vid30",
    labels: Mapping[str, Sequence[int]] | None = None,
    pictures: Mapping[str, str] | None = None,
    salt: str = "",
) -> str:
    """Seal frame sets and return the version of the mining.

    `sets` maps clip and anchor frame to the frames of the neighbours; `labels` and `pictures`
    (what the bytes of a frame are made of) are by sample key.
    """
    labels, pictures = labels or {}, pictures or {}
    frames, pairs = [], []
    for (clip, anchor), neighbours in sorted(sets.items()):
        for frame in sorted((anchor, *neighbours)):
            name = key(clip, anchor, frame)
            told: dict[str, Any] = {
                "source": source,
                "sample_key": name,
                "frame_set": frame_set(clip, anchor),
                "frame_offset": frame - anchor,
            }
            frames.append(
                {
                    **told,
                    "clip": clip,
                    "video": clip,
                    "frame": frame,
                    "seconds": frame / 30,
                    "dt": (frame - anchor) / 30,
                    "labels": list(labels.get(name, (3,))),
                    "label_source": "annotated",
                    "annotated": False,
                    "sha256": hashlib.sha256(pictures.get(name, name).encode()).hexdigest(),
                }
            )
            if frame != anchor:
                draw = hashlib.sha256(name.encode()).digest()[0] / 255
                pairs.append({**told, "suspicion": draw, "suggested": "motion"})
    version = version_of({"source": source, "frames": frames, "salt": salt})
    tables = {"frames": frames, "pairs": pairs, "videos": [], "left_out": []}
    seals = seal_tables(root, source, version, tables)
    manifest = Manifest(
        name=f"frame_sets/{source}",
        benchmark="frame_sets",
        condition=source,
        version=version,
        n_samples=0,
        n_failed=0,
        failed=(),
        n_classes=0,
        class_count_min=0,
        class_count_max=0,
        label_space=label_space,
        label_histogram_sha256=histogram_hash({}),
        mask=None,
        ignored={},
        sources=(),
        parameters={},
        renderer={"name": "mining", "version": "1", "tables": seals},
        licence=None,
        synthetic=True,
        shards=(),
    )
    root.write_json(paths.manifest(manifest.name), manifest.model_dump(mode="json"))
    return version
