"""Sealed frame sets with boxes, made by hand: drawn squares, and tables as mining writes them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from mined_tables import seal_tables
from PIL import Image

from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, paths

SIDE = (96, 64)
REACH = 2


def seal_frame_sets(
    root: Root,
    source: str = "made",
    *,
    n_sets: int = 4,
    label_space: str = "imagenet_vid30",
    broken: tuple[int, ...] = (),
    unannotated: tuple[int, ...] = (),
    seed: int = 0,
    per_shard: int = 7,
) -> Manifest:
    """Seal ``frame_sets/<source>``: `n_sets` of 2 * REACH + 1 frames, each with a box or two.

    `broken` numbers frames that are no JPEG, `unannotated` frames without known boxes.
    """
    rng = np.random.default_rng(seed)
    samples, rows = [], []
    for at in range(n_sets * (2 * REACH + 1)):
        clip, offset = f"clip{at // (2 * REACH + 1):02}", at % (2 * REACH + 1) - REACH
        frame_set = f"{clip}/{30:06}"
        key = f"{frame_set}/{30 + offset:06}"
        labels = sorted({int(label) for label in rng.integers(0, 3, 2)})
        boxes = [_box(rng, label) for label in labels]
        row: dict[str, Any] = {
            "source": source,
            "sample_key": key,
            "frame_set": frame_set,
            "frame_offset": offset,
            "clip": clip,
            "video": clip,
            "frame": 30 + offset,
            "labels": labels,
            "label_source": "annotated",
            "boxes": None if at in unannotated else boxes,
            "annotated": at not in unannotated,
            "width": SIDE[0],
            "height": SIDE[1],
            "fps": 30.0,
        }
        meta = {
            "benchmark": "frame_sets",
            "condition": source,
            "source_key": clip,
            "source_file": f"{clip}.mp4",
            "labels": labels,
            "frame_set": frame_set,
            "frame_offset": offset,
        }
        image = b"no picture" if at in broken else _jpeg(boxes)
        meta["format"] = None if at in broken else "jpeg"
        samples.append(Sample(key, image, "jpg", None, meta))
        rows.append(row)
    name = f"frame_sets/{source}"
    manifest = write_dataset(root, name, samples, label_space=label_space, per_shard=per_shard)
    seal = seal_tables(root, source, manifest.version, {"frames": rows})
    manifest = manifest.model_copy(update={"renderer": {"name": "mining", "tables": seal}})
    root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    return manifest


def seal_reviewed_frame_sets(root: Root, mined: Manifest, keys: list[str]) -> Manifest:
    """Seal ``reviewed_frame_sets/<source>`` of the frames with these keys."""
    meta = {"benchmark": "reviewed_frame_sets", "condition": mined.condition, "labels": [0]}
    samples = [Sample(key, None, "jpg", None, {**meta, "source_key": key}) for key in keys]
    name = f"reviewed_frame_sets/{mined.condition}"
    manifest = write_dataset(root, name, samples, label_space=mined.label_space)
    manifest = manifest.model_copy(
        update={"joined_to": mined.name, "parameters": {"mined_version": mined.version}}
    )
    root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    return manifest


def _box(rng: np.random.Generator, label: int) -> dict[str, Any]:
    xmin, ymin = int(rng.integers(0, SIDE[0] - 30)), int(rng.integers(0, SIDE[1] - 30))
    width, height = (int(side) for side in rng.integers(12, 30, 2))
    sides = {"xmin": xmin, "ymin": ymin, "xmax": xmin + width, "ymax": ymin + height}
    return {"label": label, **{name: float(value) for name, value in sides.items()}}


def _jpeg(boxes: list[dict[str, Any]]) -> bytes:
    pixels = np.full((SIDE[1], SIDE[0], 3), 90, np.uint8)
    for box in boxes:
        xmin, ymin, xmax, ymax = (int(box[s]) for s in ("xmin", "ymin", "xmax", "ymax"))
        pixels[ymin:ymax, xmin:xmax] = (60 * box["label"], 200, 255 - 60 * box["label"])
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()
