"""The table of detection metrics: what is missing is computed from boxes, what stands is kept."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.results.columns import columns
from ops.storage import Root, open_root, paths

DETECTION_METRICS = columns(
    model=pa.string(),
    # frame_sets, or reviewed_frame_sets; the condition is the source.
    benchmark=pa.string(),
    condition=pa.string(),
    # pm<k>_map50, pm0_map50 being that of the anchors; pm_map50_drop, how far k's lies below it.
    metric=pa.string(),
    # detection, localisation (classes merged), localisation_nms (each object reported once).
    variant=pa.string(),
    # 101-point (COCO), all-point, 11-point, ilsvrc_vid.
    rule=pa.string(),
    k=pa.int64(),
    # In [0, 1]; a drop may be negative. NULL where no scored frame has a box.
    value=pa.float64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    alpha=pa.float64(),
    # Frame sets, and the videos they are of.
    n=pa.int64(),
    n_videos=pa.int64(),
    # Annotated frames that could be chosen; classes and boxes in those that were.
    n_frames=pa.int64(),
    n_classes=pa.int64(),
    n_boxes=pa.int64(),
    # Sets whose anchor has no annotated boxes; frames of the dataset the detector failed on.
    n_left_out=pa.int64(),
    n_error=pa.int64(),
    # imported, or detector.
    origin=pa.string(),
    detections_key=pa.string(),
    dataset_version=pa.string(),
    mined_version=pa.string(),
    synthetic=pa.bool_(),
    inputs=pa.string(),
)
# As SQL sees it.
WITH_STALENESS = DETECTION_METRICS.append(pa.field("stale", pa.bool_()))

_PATH = paths.results("detection_metrics.parquet")
_INPUTS = b"shiftlake.inputs"
_ORDER = ("model", "benchmark", "condition", "variant", "rule", "metric", "k")


def compute_detection_metrics(
    root: Root | str,
    progress: Callable[[int, int], None] | None = None,
    damaged: list[ShiftlakeError] | None = None,
) -> pa.Table:
    """Bring ``results/detection_metrics.parquet`` up to date with the stored detections.

    Parameters
    ----------
    root : Root or str
    progress : callable, optional
        Called as ``progress(units done, units in all)``; a unit is a detector on a dataset.
    damaged : list, optional
        Takes an error for everything that could not be read.

    Returns
    -------
    pyarrow.Table
        All rows, sorted. No detector is run; rows whose inputs are unchanged are kept, and where
        all are, nothing is written.

    Raises
    ------
    ShiftlakeError
        If a record, boxes or frames cannot be read, and there is no `damaged` to say so. All else
        has been scored and stored by then.
    """
    # Scoring needs more than who only reads the table.
    from ops.results.detection_rows import detection_rows
    from ops.results.detection_units import detection_units

    root = open_root(root)
    before, covered = _read(root)
    found, errors = detection_units(root)
    units = {unit.inputs: unit for unit in found}
    rows = []
    for done, (inputs, unit) in enumerate(sorted(units.items()), 1):
        if inputs not in covered:
            try:
                rows += detection_rows(root, unit)
            except ShiftlakeError as error:
                errors.append(error)
                del units[inputs]
        if progress is not None:
            progress(done, len(found))
    table = before if covered == units.keys() else _write(root, before, rows, units)
    if damaged is not None:
        damaged += errors
    elif errors:
        raise errors[0]
    return table


def _write(
    root: Root, before: pa.Table, rows: list[dict[str, Any]], units: Iterable[str]
) -> pa.Table:
    """Store new rows beside those that stand."""
    kept = before.filter(pc.is_in(before["inputs"], value_set=pa.array(sorted(units), pa.string())))
    computed = pa.Table.from_pylist(rows, schema=DETECTION_METRICS)
    table = pa.concat_tables([kept, computed]).sort_by([(name, "ascending") for name in _ORDER])
    table = table.combine_chunks()
    buffer = io.BytesIO()
    footer = {_INPUTS: " ".join(sorted(units)).encode()}
    pq.write_table(table.replace_schema_metadata(footer), buffer, compression="zstd")
    root.write_bytes(_PATH, buffer.getvalue())
    return table


def read_detection_metrics(root: Root | str) -> pa.Table:
    """The stored rows with the column `stale`: whether boxes or frames are others by now."""
    from ops.results.detection_units import detection_units

    root = open_root(root)
    table, _ = _read(root)
    fresh = {unit.inputs for unit in detection_units(root)[0]} if table.num_rows else set()
    stale = [inputs not in fresh for inputs in table["inputs"].to_pylist()]
    return table.append_column(WITH_STALENESS.field("stale"), pa.array(stale, pa.bool_()))


def _read(root: Root) -> tuple[pa.Table, frozenset[str]]:
    """The stored rows and what they cover; none where there is no file that can be read."""
    nothing = DETECTION_METRICS.empty_table(), frozenset[str]()
    if not root.exists(_PATH):
        return nothing
    try:
        table = pq.read_table(io.BytesIO(root.read_bytes(_PATH)))
    except (pa.ArrowException, OSError):
        # Computed again from what is stored: nothing is lost.
        return nothing
    footer = table.schema.metadata or {}
    table = table.replace_schema_metadata(None)
    if not table.schema.equals(DETECTION_METRICS) or _INPUTS not in footer:
        return nothing
    return table, frozenset(footer[_INPUTS].decode().split())
