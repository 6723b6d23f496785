"""What a detector found in one shard, kept until all are done: a killed run goes on from there."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.detections.forward import Found
from ops.inference.detections.schema import DETECTIONS, FRAMES
from ops.shards.manifest import ShardEntry
from ops.storage import Root

_FOLDER = "parts"
_BOX = pa.struct([field for field in DETECTIONS if field.name != "sample_key"])
# A row a frame, with its boxes beside it.
_PART = pa.schema([*FRAMES, ("n_unmapped", pa.int32()), ("boxes", pa.list_(_BOX))])


def part_path(folder: str, entry: ShardEntry) -> str:
    """Path of the part of one shard."""
    return f"{folder}/{_FOLDER}/{entry.name.removesuffix('.tar')}.parquet"


def write_part(
    root: Root,
    folder: str,
    entry: ShardEntry,
    found: list[Found],
    labels: dict[int, int | None],
) -> None:
    """Write what was found in a shard.

    Parameters
    ----------
    root : Root
    folder : str
        Of the detections, below the root.
    entry : ShardEntry
    found : list of Found
        One a sample of the shard.
    labels : dict of int to int or None
        Label of each category id; None for one that has no class.

    Raises
    ------
    ShiftlakeError
        If a sample has no row or two, or a category id is unknown.
    """
    keys = [each.key for each in found]
    if not len(keys) == len(set(keys)) == entry.n_samples:
        raise ShiftlakeError(
            "A shard was not looked at exactly once.",
            expected=f"{entry.n_samples:,} frames",
            found=f"{len(keys):,} rows with {len(set(keys)):,} keys",
            where=entry.name,
            remedy="verify the dataset: its shard contradicts its manifest",
        )
    rows = []
    for each in found:
        strange = set(each.category.tolist()) - labels.keys()
        if strange:
            raise ShiftlakeError(
                "The detector reports an unknown category.",
                expected=f"ids from {min(labels)} to {max(labels)}",
                found=f"{sorted(strange)[0]}",
                where=each.key,
                remedy="state with --categories what the detector was trained on",
            )
        boxes = [
            {"label": label, "score": score, **dict(zip(_BOX_SIDES, box, strict=True))}
            for category, score, box in zip(
                each.category.tolist(), each.score.tolist(), each.box.tolist(), strict=True
            )
            if (label := labels[category]) is not None
        ]
        rows.append(
            {
                "sample_key": each.key,
                "status": each.status,
                "reason": each.reason,
                "n_boxes": len(boxes),
                "n_unmapped": len(each.category) - len(boxes),
                "boxes": boxes,
            }
        )
    buffer = io.BytesIO()
    table = pa.Table.from_pylist(rows, schema=_PART)
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    root.write_bytes(part_path(folder, entry), buffer.getvalue())


_BOX_SIDES = ("xmin", "ymin", "xmax", "ymax")


def read_part(root: Root, folder: str, entry: ShardEntry) -> pa.Table | None:
    """The part of a shard; None where it is missing or damaged."""
    path = part_path(folder, entry)
    if not root.exists(path):
        return None
    try:
        data = io.BytesIO(root.read_bytes(path))
        table = pq.ParquetFile(data, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError):
        return None
    whole = table.schema.equals(_PART) and table.num_rows == entry.n_samples
    return table if whole else None


def boxes_of(part: pa.Table) -> pa.RecordBatch:
    """The boxes of a part, with the columns of `DETECTIONS`."""
    boxes = part["boxes"].combine_chunks()
    times = np.diff(boxes.offsets.to_numpy())
    keys = (
        part["sample_key"].combine_chunks().take(pa.array(np.repeat(np.arange(len(times)), times)))
    )
    values = boxes.flatten()
    return pa.RecordBatch.from_arrays([keys, *values.flatten()], schema=DETECTIONS)


def remove_parts(root: Root, folder: str) -> None:
    """Remove all parts, once they are sealed as one."""
    root.remove_folder(f"{folder}/{_FOLDER}")
