"""``results/gate.parquet``: the verdicts of the non-inferiority gates.

Here: the columns and the file. What stands in them is worked out in :mod:`ops.results.gates`.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from ops.results.columns import columns
from ops.storage import Root, open_root, paths

FLIPPED_CLASS = pa.struct(
    [
        ("class_index", pa.int32()),
        ("name", pa.string()),
        ("n", pa.int64()),
        ("lost", pa.int64()),
        ("gained", pa.int64()),
    ]
)
GATE = columns(
    gate=pa.string(),
    candidate=pa.string(),
    baseline=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    # pass, fail, inconclusive, waived or missing.
    verdict=pa.string(),
    reason=pa.string(),
    # In the unit of the metric, positive where the candidate is better; the margin likewise.
    baseline_value=pa.float64(),
    candidate_value=pa.float64(),
    delta=pa.float64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    margin=pa.float64(),
    n=pa.int64(),
    # Samples only the baseline has right, and samples only the candidate has right.
    lost=pa.int64(),
    gained=pa.int64(),
    p_value=pa.float64(),
    p_holm=pa.float64(),
    waiver_reason=pa.string(),
    waiver_by=pa.string(),
    waiver_expires=pa.date32(),
    flipped_classes=pa.list_(FLIPPED_CLASS),
    flipped_samples=pa.list_(pa.string()),
    candidate_run_ids=pa.list_(pa.string()),
    baseline_run_ids=pa.list_(pa.string()),
    # Libraries and devices whose versions differ between the two, as "torch 2.6 to 2.7".
    environment_changes=pa.list_(pa.string()),
    synthetic=pa.bool_(),
)
_PATH = paths.results("gate.parquet")


def write_gate(root: Root, table: pa.Table) -> None:
    """Store the verdicts in place of the last ones, atomically."""
    with root.writer(_PATH) as file:
        pq.write_table(table.cast(GATE), file)


def read_gate(root: Root | str) -> pa.Table:
    """The stored verdicts; an empty table where no gate has been run."""
    root = open_root(root)
    if not root.exists(_PATH):
        return GATE.empty_table()
    return pq.read_table(pa.BufferReader(root.read_bytes(_PATH)), schema=GATE)
