"""``results/gate.parquet``: the verdicts of the non-inferiority gates.

Here: the columns and the file. What stands in them is worked out in
:mod:`ops.results.gates.verdicts`.
"""

from __future__ import annotations

import io

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
    better=pa.string(),
    # pass, fail, inconclusive, waived or missing.
    verdict=pa.string(),
    reason=pa.string(),
    # In the unit of the metric; the difference and its bounds are positive where the candidate is
    # better, and the margin is the largest loss that is accepted.
    baseline_value=pa.float64(),
    candidate_value=pa.float64(),
    delta=pa.float64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    alpha=pa.float64(),
    margin=pa.float64(),
    # Images, anchors or sequences, and the source images that these are of.
    n=pa.int64(),
    n_sources=pa.int64(),
    # Samples only the baseline has right, and samples only the candidate has right.
    lost=pa.int64(),
    gained=pa.int64(),
    p_value=pa.float64(),
    p_method=pa.string(),
    # Corrected for all numbers that the gate demands, those that are missing included.
    p_holm=pa.float64(),
    # Whatever waiver speaks of the row; only one that has not expired makes the verdict waived.
    waiver_reason=pa.string(),
    waiver_by=pa.string(),
    waiver_expires=pa.date32(),
    # Lost, those with most lost first; and the images of which the candidate is surest first.
    # Where a row is over several conditions, the condition and a blank stand before a sample key.
    flipped_classes=pa.list_(FLIPPED_CLASS),
    flipped_samples=pa.list_(pa.string()),
    candidate_run_ids=pa.list_(pa.string()),
    baseline_run_ids=pa.list_(pa.string()),
    # Libraries and devices whose versions differ between the two, as "torch 2.6 to 2.7".
    environment_changes=pa.list_(pa.string()),
    synthetic=pa.bool_(),
    # Names the runs and the definitions of the numbers, which are not computed again.
    inputs=pa.string(),
)
_PATH = paths.results("gate.parquet")


def write_gate(root: Root, table: pa.Table) -> None:
    """Store the verdicts in place of the last ones, atomically; the same give the same bytes."""
    buffer = io.BytesIO()
    pq.write_table(table.cast(GATE), buffer, compression="zstd")
    root.write_bytes(_PATH, buffer.getvalue())


def read_gate(root: Root | str) -> pa.Table:
    """The stored verdicts; an empty table where no gate has been run, or by another release."""
    root = open_root(root)
    if not root.exists(_PATH):
        return GATE.empty_table()
    data = root.read_bytes(_PATH)
    try:
        table = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError):
        # Running the gates again makes it anew; until then there is none to believe.
        return GATE.empty_table()
    return table if table.schema.equals(GATE) else GATE.empty_table()
