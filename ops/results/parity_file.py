"""The stored parity reports: a Parquet file for each benchmark that is published and rendered.

Here: the columns and the files. What stands in them is worked out in :mod:`ops.report.parity`.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from ops.storage import Root, open_root, paths

FOLDER = "parity"
PARITY = pa.schema(
    [
        ("published", pa.string()),
        ("rendered", pa.string()),
        ("condition", pa.string()),
        ("published_version", pa.string()),
        ("rendered_version", pa.string()),
        # Images of both sets whose source is the same, and how many of them were looked at.
        ("n_common", pa.int64()),
        ("n_compared", pa.int64()),
        # NULL where no pair has one size.
        ("n_same_size", pa.int64()),
        ("n_identical", pa.int64()),
        ("mean_abs_difference", pa.float64()),
        # Over all compared samples at once; NULL where all are identical.
        ("psnr_db", pa.float64()),
        ("published_bytes", pa.float64()),
        ("rendered_bytes", pa.float64()),
        # NULL without a model that has current predictions on both.
        ("model", pa.string()),
        ("n_paired", pa.int64()),
        ("published_top1", pa.float64()),
        ("rendered_top1", pa.float64()),
        ("top1_shift", pa.float64()),
        ("ci_lo", pa.float64()),
        ("ci_hi", pa.float64()),
        ("synthetic", pa.bool_()),
    ]
)


def write_parity(root: Root, name: str, table: pa.Table) -> None:
    """Store the report of one benchmark, in place of its last one."""
    with root.writer(paths.results(f"{FOLDER}/{name}.parquet")) as file:
        pq.write_table(table, file)


def read_parity(root: Root | str) -> pa.Table:
    """All stored reports in one table; an empty one where none was made."""
    root = open_root(root)
    found = [
        pq.read_table(pa.BufferReader(root.read_bytes(path)), schema=PARITY)
        for path in sorted(root.list(paths.results(FOLDER)))
        if path.endswith(".parquet")
    ]
    return pa.concat_tables(found) if found else PARITY.empty_table()
