"""``results/metrics.parquet``: its columns, reading it, and which runs it was computed from."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from ops.results.columns import columns
from ops.storage import Root, paths

METRICS = columns(
    # Of the run, or of the set of runs where a metric needs several.
    run_id=pa.string(),
    model=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    # In [0, 1], except where the name of the metric ends in _pct.
    value=pa.float64(),
    # Successes, where the value is a ratio of counts.
    k=pa.int64(),
    n=pa.int64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    alpha=pa.float64(),
    dataset_version=pa.string(),
    synthetic=pa.bool_(),
    run_ids=pa.list_(pa.string()),
    # Names everything the row was computed from; rows with the same key need no work.
    inputs=pa.string(),
)

_PATH = paths.results("metrics.parquet")
_RUNS = b"shiftlake.runs"
_INPUTS = b"shiftlake.inputs"


@dataclass(frozen=True)
class Measured:
    """The table of metrics, and what it covers.

    `runs` are ids of runs; `inputs` are keys of everything computed, including what gave no
    row (a corruption missing, no negatives).
    """

    table: pa.Table
    runs: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()


def read_metrics(root: Root) -> Measured:
    """The stored table of metrics; empty where there is none."""
    if not root.exists(_PATH):
        return Measured(METRICS.empty_table())
    table = pq.read_table(io.BytesIO(root.read_bytes(_PATH)))
    if not table.schema.equals(METRICS):
        # Columns of another release: everything is computed again.
        return Measured(METRICS.empty_table())
    footer = table.schema.metadata or {}
    runs, inputs = (frozenset(footer.get(name, b"").decode().split()) for name in (_RUNS, _INPUTS))
    return Measured(table.replace_schema_metadata(None), runs, inputs)


def write_metrics(root: Root, measured: Measured) -> None:
    """Publish the table of metrics, atomically; the same content gives the same bytes."""
    buffer = io.BytesIO()
    footer = {
        _RUNS: " ".join(sorted(measured.runs)).encode(),
        _INPUTS: " ".join(sorted(measured.inputs)).encode(),
    }
    table = measured.table.replace_schema_metadata(footer)
    pq.write_table(table, buffer, compression="zstd")
    root.write_bytes(_PATH, buffer.getvalue())
