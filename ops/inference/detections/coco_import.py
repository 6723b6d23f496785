"""Take over boxes that a detector found elsewhere, from a results file in COCO's format."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.inference.detections.categories import OWN, Kind
from ops.inference.detections.coco_columns import Columns, columns_of
from ops.inference.detections.coco_rows import rows_of
from ops.inference.detections.coco_truth import CocoTruth, read_truth, truth_of
from ops.inference.detections.framed import Framed, read_framed
from ops.inference.detections.record import DetectionsRecord, key_of
from ops.inference.detections.schema import BOXES_FILE, DETECTIONS
from ops.inference.detections.store import TableFile, seal, table_file, write_frames
from ops.models.entry import checked_name
from ops.storage import Root, open_root

# A box reaches beyond its frame by more than this share of its side: few detectors report that, and
# whoever writes corners for x, y, width and height does with many boxes.
_BEYOND = 0.1
# Frames have more pixels than this.
_FRACTION = 1.5

# Of this module: raised when the same file is read into other rows.
CODE_VERSION = "1"


def import_results(
    root: Root | str,
    model: str,
    dataset: str,
    results: Path,
    *,
    ground_truth: Path | None = None,
    categories: Kind = OWN,
    progress: Callable[[int], None] | None = None,
) -> DetectionsRecord:
    """Store the boxes of a results file as detections of a model.

    Parameters
    ----------
    root : Root or str
    model : str
        Name to store them under; it need not be registered.
    dataset : str
        ``frame_sets/<source>``, or the source alone.
    results : Path
        JSON list of ``{"image_id", "category_id", "bbox": [x, y, width, height], "score"}``,
        which is read in parts; other fields are passed over.
    ground_truth : Path, optional
        The file whose image and category ids the results use; without it they are those of
        :func:`ops.inference.detections.write_ground_truth`.
    categories : {"own", "coco91"}
        ``coco91``: category ids are those of COCO, and detections of a category that has no class
        in the dataset are left out and counted.
    progress : callable, optional
        Called with the number of rows read so far.

    Returns
    -------
    DetectionsRecord
        Already sealed. The same file again is the same key, and replaces nothing but the time.

    Raises
    ------
    ShiftlakeError
        If either file cannot be read, a row is no detection, or an image or category is unknown.
        Nothing is stored then.
    """
    root, began = open_root(root), time.perf_counter()
    checked_name(model, results)
    framed = read_framed(root, dataset)
    for path in (results, ground_truth):
        if path is not None and not path.is_file():
            raise _no_file(path)
    if ground_truth is None:
        truth = truth_of(framed, categories)
    else:
        with ground_truth.open("rb") as file:
            truth = read_truth(file, framed, ground_truth.name, categories)
    with results.open("rb") as file:
        file_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    manifest = framed.manifest
    key = key_of(
        {
            "code_version": CODE_VERSION,
            "dataset": manifest.name,
            "dataset_version": manifest.version,
            "results": file_sha256,
            "meaning": _meaning(truth),
        }
    )
    record = DetectionsRecord(
        key=key,
        model=model,
        dataset=manifest.name,
        dataset_version=manifest.version,
        label_space=manifest.label_space,
        origin="imported",
        file_sha256=file_sha256,
        categories=categories if ground_truth is None or categories != OWN else "by name",
        missing_labels=truth.categories.missing,
        n_expected=framed.frames.num_rows,
        n_seen=framed.frames.num_rows,
        n_error=0,
        n_detections=0,
        n_unmapped=0,
        code_version=CODE_VERSION,
        versions={"pyarrow": pa.__version__, "numpy": np.__version__},
        ended_at="",
        seconds=0.0,
        synthetic=manifest.synthetic,
        files=(),
    )
    folder = record.folder()
    with results.open("rb") as file, table_file(root, folder, BOXES_FILE, DETECTIONS) as table:
        boxes, unmapped, outside = _copied(file, results.name, framed, truth, table, progress)
        written = table.close()
    frames = write_frames(root, folder, framed.keys, boxes.tolist(), {})
    return seal(
        root,
        record.model_copy(
            update={
                "n_detections": written.rows,
                "n_unmapped": unmapped,
                "n_outside": outside,
                "ended_at": datetime.now(UTC).isoformat(),
                "seconds": round(time.perf_counter() - began, 3),
                "files": (written, frames),
            }
        ),
    )


def _copied(
    file: BinaryIO,
    where: object,
    framed: Framed,
    truth: CocoTruth,
    table: TableFile,
    progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.int64], int, int]:
    """Copy all rows: boxes a frame, rows left out, and boxes that reach beyond their frame."""
    keys = framed.frames["sample_key"].combine_chunks()
    known = sorted(truth.categories.labels)
    of = [truth.categories.labels[each] for each in known]
    labels = np.array([-1 if label is None else label for label in of], np.int16)
    boxes = np.zeros(framed.frames.num_rows, np.int64)
    sides = np.stack([framed.frames[name].to_numpy() for name in ("width", "height")], axis=1)
    rows = unmapped = outside = 0
    furthest = 0.0
    for part in rows_of(file, where):
        columns = columns_of(part, rows, where)
        frame = truth.frames[_place(columns.image, truth.image_ids, "image_id", rows, where)]
        category = np.array(known, np.int64)
        label = labels[_place(columns.category, category, "category_id", rows, where)]
        kept = label >= 0
        table.write(_batch(keys, frame[kept], label[kept], columns, kept))
        boxes += np.bincount(frame[kept], minlength=boxes.size)
        beyond = np.any(columns.box[:, 2:] > (1 + _BEYOND) * sides[frame], axis=1)
        outside += int(np.count_nonzero(beyond & kept))
        furthest = max(furthest, float(columns.box[:, 2:].max(initial=0)))
        rows += len(part)
        unmapped += int((~kept).sum())
        if progress is not None:
            progress(rows)
    if rows and furthest <= _FRACTION:
        raise ShiftlakeError(
            "The boxes look like fractions of the picture.",
            expected="bbox in pixels of the stored frame",
            found=f"no edge beyond {furthest:g} in {rows:,} rows",
            where=where,
            remedy="multiply x and width by the width of the picture, y and height by its height",
        )
    return boxes, unmapped, outside


def _place(
    values: NDArray[np.int64],
    known: NDArray[np.int64],
    name: str,
    first: int,
    where: object,
) -> NDArray[np.intp]:
    """Position of every value among the known ones."""
    place = np.minimum(np.searchsorted(known, values), max(known.size - 1, 0))
    unknown = values != known[place] if known.size else np.ones(values.size, bool)
    if not unknown.any():
        return place
    bad = np.flatnonzero(unknown)
    from_0 = bool(known.size and known[0] == 1 and (values[bad] == 0).all())
    raise ShiftlakeError(
        f"The results name an unknown {name}.",
        expected=f"{known.size:,} ids, from {known[0]} to {known[-1]}" if known.size else "no row",
        found=f"{values[bad[0]]}, and {np.unique(values[bad]).size - 1:,} more in this part",
        where=f"{where}, row {first + bad[0]:,} (from 0)",
        remedy=("these seem to be counted from 0: add 1; or " if from_0 else "")
        + "give the ground-truth file that the detector was run with (--ground-truth), and "
        "state with --categories whether its categories are own or coco91",
    )


def _batch(
    keys: pa.StringArray,
    frame: NDArray[np.int64],
    label: NDArray[np.int16],
    columns: Columns,
    kept: NDArray[np.bool_],
) -> pa.RecordBatch:
    sides = columns.box[kept].T
    arrays = [keys.take(pa.array(frame)), pa.array(label), pa.array(columns.score[kept])]
    return pa.RecordBatch.from_arrays(
        [*arrays, *(pa.array(np.ascontiguousarray(side)) for side in sides)], schema=DETECTIONS
    )


def _meaning(truth: CocoTruth) -> str:
    """Hash of which frame and class every id is."""
    digest = hashlib.sha256(truth.image_ids.tobytes() + truth.frames.tobytes())
    digest.update(repr(sorted(truth.categories.labels.items())).encode())
    return digest.hexdigest()


def _no_file(path: Path) -> ShiftlakeError:
    return ShiftlakeError(
        "A file to be read is not there.",
        expected="a file in COCO's format",
        found="a folder" if path.exists() else "nothing",
        where=path,
        remedy="check the path",
    )
