"""Run a detector over the frames of a mined dataset, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.inference.detections.categories import COCO91, Kind
from ops.inference.detections.detector import Opened, open_detector
from ops.inference.detections.forward import Found, detect
from ops.inference.detections.framed import Framed, read_framed
from ops.inference.detections.parts import boxes_of, read_part, remove_parts, write_part
from ops.inference.detections.record import DetectionsRecord, key_of, read_record
from ops.inference.detections.schema import BOXES_FILE, DETECTIONS, RECORD_FILE
from ops.inference.detections.store import seal, table_file, write_frames
from ops.inference.environment import versions
from ops.models.entry import checked_name
from ops.shards.manifest import ShardEntry
from ops.shards.reader import read_shard
from ops.storage import Root, open_root

# Of this module and of `forward`: raised when the same weights give other boxes.
CODE_VERSION = "1"


def run_detector(
    root: Root | str,
    model: str,
    dataset: str,
    builder: str,
    weights: Path,
    *,
    kwargs: dict[str, Any] | None = None,
    categories: Kind = COCO91,
    device: str = "cpu",
    batch_size: int = 8,
    progress: Callable[[int, int], None] | None = None,
) -> DetectionsRecord:
    """Detect in every frame of a mined dataset, and store what was found.

    Parameters
    ----------
    root : Root or str
    model : str
        Name to store the boxes under.
    dataset : str
        ``frame_sets/<source>``, or the source alone.
    builder, weights, kwargs, categories
        As :func:`ops.inference.detections.detector.open_detector`.
    device : str
    batch_size : int
    progress : callable, optional
        Called as ``progress(frames done, frames in all)``.

    Returns
    -------
    DetectionsRecord
        Sealed. Boxes of the same detector in the same frames are not looked for again, and a run
        that was killed goes on with the shards it had not finished.

    Raises
    ------
    ShiftlakeError
        If the detector cannot be opened, fails on every frame of a shard, or a shard is damaged. A
        single frame that fails is a row with its reason.
    """
    root, began = open_root(root), time.perf_counter()
    checked_name(model, builder)
    framed = read_framed(root, dataset)
    manifest = framed.manifest
    opened = open_detector(
        builder, weights, manifest.label_space, kwargs=kwargs, categories=categories, device=device
    )
    key = key_of(
        {
            "code_version": CODE_VERSION,
            "dataset": manifest.name,
            "dataset_version": manifest.version,
            "detector": opened.detector.model_dump(mode="json"),
            "device": torch.device(device).type,
        }
    )
    record = DetectionsRecord(
        key=key,
        model=model,
        dataset=manifest.name,
        dataset_version=manifest.version,
        label_space=manifest.label_space,
        origin="detector",
        weights_sha256=opened.detector.weights_sha256,
        detector=opened.detector.model_dump(mode="json"),
        categories=categories,
        missing_labels=opened.categories.missing,
        n_expected=framed.frames.num_rows,
        n_seen=0,
        n_error=0,
        n_detections=0,
        n_unmapped=0,
        code_version=CODE_VERSION,
        versions=versions(torch.device(device).type, "torchvision"),
        ended_at="",
        seconds=0.0,
        synthetic=manifest.synthetic,
        files=(),
    )
    if root.exists(sealed := f"{record.folder()}/{RECORD_FILE}"):
        return read_record(root, sealed)
    done = 0
    sizes = _sizes(framed)
    for entry in manifest.shards:
        if read_part(root, record.folder(), entry) is None:
            found = _look(root, framed, entry, opened, sizes, device, batch_size)
            write_part(root, record.folder(), entry, found, opened.categories.labels)
        done += entry.n_samples
        if progress is not None:
            progress(done, manifest.n_samples)
    merged = _merged(root, framed, record)
    merged = merged.model_copy(
        update={
            "ended_at": datetime.now(UTC).isoformat(),
            "seconds": round(time.perf_counter() - began, 3),
        }
    )
    sealed_record = seal(root, merged)
    remove_parts(root, record.folder())
    return sealed_record


def _sizes(framed: Framed) -> dict[str, tuple[int, int]]:
    columns = (framed.frames[name].to_pylist() for name in ("width", "height"))
    return dict(zip(framed.keys, zip(*columns, strict=True), strict=True))


def _look(
    root: Root,
    framed: Framed,
    entry: ShardEntry,
    opened: Opened,
    sizes: dict[str, tuple[int, int]],
    device: str,
    batch_size: int,
) -> list[Found]:
    """What the detector finds in the frames of one shard."""
    samples = read_shard(root, framed.manifest, entry)
    found = list(detect(opened.network, samples, sizes, device=device, batch_size=batch_size))
    failed = [each for each in found if each.status == "detector_error"]
    looked_at = [each for each in found if each.status != "decode_error"]
    if len(failed) > 1 and len(failed) == len(looked_at):
        raise ShiftlakeError(
            "The detector fails on every frame.",
            expected="boxes, labels and scores",
            found=failed[0].reason,
            where=f"{opened.detector.builder}, {entry.name}",
            remedy="try the detector on one image; check its arguments and weights",
        )
    return found


def _merged(root: Root, framed: Framed, record: DetectionsRecord) -> DetectionsRecord:
    """Write the boxes of all parts as one file, and the row of every frame."""
    folder = record.folder()
    place = {key: at for at, key in enumerate(framed.keys)}
    boxes: dict[str, int] = {}
    failed: dict[str, tuple[str, str]] = {}
    unmapped = 0
    with table_file(root, folder, BOXES_FILE, DETECTIONS) as table:
        for entry in framed.manifest.shards:
            part = read_part(root, folder, entry)
            if part is None:
                raise _incomplete(entry.name, "its part", "none")
            table.write(boxes_of(part))
            for row in part.drop_columns(["boxes"]).to_pylist():
                boxes[row["sample_key"]] = row["n_boxes"]
                unmapped += row["n_unmapped"]
                if row["status"] != "ok":
                    failed[row["sample_key"]] = (row["status"], row["reason"])
        if boxes.keys() != place.keys():
            strange = sorted(boxes.keys() ^ place.keys())
            raise _incomplete(record.dataset, "each frame once", f"{strange[0]} and others")
        written = table.close()
    frames = write_frames(root, folder, framed.keys, [boxes[key] for key in place], failed)
    return record.model_copy(
        update={
            "n_seen": len(place) - len(failed),
            "n_error": len(failed),
            "n_detections": written.rows,
            "n_unmapped": unmapped,
            "files": (written, frames),
        }
    )


def _incomplete(where: str, expected: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "Frames were not looked at exactly once.",
        expected=expected,
        found=found,
        where=where,
        remedy="run again: what is finished stays",
    )
