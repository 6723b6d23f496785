"""``results/metrics.parquet``: its columns, reading it, and which runs it was computed from."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from ops.results.columns import columns
from ops.results.damage import Unreadable
from ops.storage import Root, paths

METRICS = columns(
    # Of the run, or of the set of runs where a metric needs several.
    run_id=pa.string(),
    model=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    # In [0, 1], except where the name of the metric ends in _pct, and distances (ut5d, uzipf).
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
    # Model and run id of the AlexNet's runs that a metric is over, where it is one of ours.
    normaliser_runs=pa.list_(pa.string()),
    # Names everything the row was computed from; rows with the same key need no work.
    inputs=pa.string(),
)

_PATH = paths.results("metrics.parquet")
_RUNS = b"shiftlake.measured"
_INPUTS = b"shiftlake.inputs"


@dataclass(frozen=True)
class Measured:
    """The table of metrics, and what it covers.

    `runs` are pairs of model and run id, since two names of the same weights share their run
    ids; `inputs` are keys of everything computed, including what gave no row (a corruption
    missing, no negatives). `unreadable` is set where the stored table is damaged.
    """

    table: pa.Table
    runs: frozenset[tuple[str, str]] = frozenset()
    inputs: frozenset[str] = frozenset()
    unreadable: Unreadable | None = None


def read_metrics(root: Root) -> Measured:
    """The stored table of metrics; empty where there is none, or none that can be read."""
    if not root.exists(_PATH):
        return Measured(METRICS.empty_table())
    data = root.read_bytes(_PATH)
    try:
        table = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
        footer = table.schema.metadata or {}
        runs, inputs = (footer.get(name, b"").decode().split() for name in (_RUNS, _INPUTS))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        damage = Unreadable(_PATH, why, "compute the metrics again")
        return Measured(METRICS.empty_table(), unreadable=damage)
    if not table.schema.equals(METRICS) or _RUNS not in footer:
        # Columns of another release: everything is computed again.
        return Measured(METRICS.empty_table())
    return Measured(
        table.replace_schema_metadata(None), frozenset(map(_pair, runs)), frozenset(inputs)
    )


def runs_used(table: pa.Table) -> list[set[tuple[str, str]]]:
    """Model and run id of every run behind each row, those of its normaliser included."""
    return [
        {(row["model"], run_id) for run_id in row["run_ids"]}
        | set(map(_pair, row["normaliser_runs"] or []))
        for row in table.select(["model", "run_ids", "normaliser_runs"]).to_pylist()
    ]


def _pair(run: str) -> tuple[str, str]:
    model, _, run_id = run.rpartition("/")
    return model, run_id


def write_metrics(root: Root, measured: Measured) -> None:
    """Publish the table of metrics, atomically; the same content gives the same bytes."""
    buffer = io.BytesIO()
    footer = {
        _RUNS: " ".join(sorted("/".join(pair) for pair in measured.runs)).encode(),
        _INPUTS: " ".join(sorted(measured.inputs)).encode(),
    }
    table = measured.table.replace_schema_metadata(footer)
    pq.write_table(table, buffer, compression="zstd")
    root.write_bytes(_PATH, buffer.getvalue())
