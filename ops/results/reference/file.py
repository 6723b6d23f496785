"""``results/reference.parquet``: results published elsewhere, in one tidy table.

Here: the columns and the file; :mod:`ops.results.reference.importing` makes its rows.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from ops.results.columns import columns
from ops.storage import Root, open_root, paths

REFERENCE = columns(
    # Who published it (timm, imagenet_testbed, ...), at which revision: one for all of its files.
    source=pa.string(),
    revision=pa.string(),
    model=pa.string(),
    # What the publisher calls the setting; benchmark, condition and variant are NULL where it is
    # nothing that is measured here.
    setting=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    # In the unit of the metric in the table of metrics: a share, or percent for *_pct.
    value=pa.float64(),
    n=pa.int64(),
    # How the publisher's model was trained, where known: standard, robustness intervention,
    # more data, low accuracy.
    model_kind=pa.string(),
    image_size=pa.int64(),
    million_parameters=pa.float64(),
    synthetic=pa.bool_(),
)
_PATH = paths.results("reference.parquet")


def write_reference(root: Root, table: pa.Table) -> None:
    """Store the table in place of the last one, atomically."""
    with root.writer(_PATH) as file:
        pq.write_table(table.cast(REFERENCE), file, compression="zstd")


def read_reference(root: Root | str) -> pa.Table:
    """The stored table; an empty one where nothing was imported, or by another release."""
    root = open_root(root)
    if not root.exists(_PATH):
        return REFERENCE.empty_table()
    found = pq.ParquetFile(pa.BufferReader(root.read_bytes(_PATH)), pre_buffer=False)
    if not found.schema_arrow.equals(REFERENCE):
        return REFERENCE.empty_table()
    return found.read(use_threads=False)
