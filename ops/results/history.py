"""Every number that was ever measured, and what it was measured with: only added to.

The table of metrics holds what the current runs say. When a model's weights, a dataset or a
definition changes, its rows there give way to new ones; here they stay, with the weights, libraries
and device behind them, also where the superseded predictions are deleted. Each computation adds a
file below ``results/history/``, named by its content, so that doing it twice adds nothing.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.results.columns import columns
from ops.results.inventory import Inventory
from ops.results.measures.unit import DEFINITIONS
from ops.results.runs import Run
from ops.storage import Root, paths

HISTORY = columns(
    model=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    value=pa.float64(),
    n=pa.int64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    # Whether it is in the table of metrics; if not, it is superseded.
    current=pa.bool_(),
    # When the last of its runs was finished.
    evaluated_at=pa.string(),
    weights_sha256=pa.string(),
    transform_hash=pa.string(),
    dataset_version=pa.string(),
    # Of metrics over several runs: every value there is, joined by a comma.
    torch=pa.string(),
    pillow=pa.string(),
    numpy=pa.string(),
    device=pa.string(),
    device_name=pa.string(),
    precision=pa.string(),
    code_version=pa.string(),
    # Of the formulas of the metrics.
    definitions=pa.string(),
    synthetic=pa.bool_(),
    run_id=pa.string(),
)
# Computed when it is read.
_STORED = HISTORY.remove(HISTORY.get_field_index("current")).append(pa.field("inputs", pa.string()))

# Rows that differ in nothing but these say the same.
_MERGED = ("current", "definitions")

_FOLDER = paths.results("history")
# A remote root is waited for, not computed.
_READERS = 16

_FACTS: dict[str, Callable[[Run], object]] = {
    "weights_sha256": lambda run: run.weights_sha256,
    "transform_hash": lambda run: run.transform_hash,
    "torch": lambda run: run.versions.get("torch"),
    "pillow": lambda run: run.versions.get("pillow"),
    "numpy": lambda run: run.versions.get("numpy"),
    "device": lambda run: run.numerics.get("device"),
    "device_name": lambda run: run.device_name,
    "precision": lambda run: run.numerics.get("dtype"),
    "code_version": lambda run: run.code_version,
}


def keep_history(root: Root, inventory: Inventory, computed: pa.Table, whole: pa.Table) -> None:
    """Add rows of the table of metrics to the history, with what their runs say of themselves.

    Parameters
    ----------
    root : Root
    inventory : Inventory
        Has the runs behind the rows.
    computed : pyarrow.Table
        Rows that are new.
    whole : pyarrow.Table
        All rows: added where nothing has been kept yet.
    """
    rows = computed if root.list(_FOLDER) else whole
    if not rows.num_rows:
        return
    runs = {(run.model, run.run_id): run for run in inventory.runs}
    behind = [
        (model, tuple(run_ids))
        for model, run_ids in zip(
            rows["model"].to_pylist(), rows["run_ids"].to_pylist(), strict=True
        )
    ]
    # Thousands of rows are made from the same runs.
    facts = {own: _facts([runs[own[0], run_id] for run_id in own[1]]) for own in set(behind)}
    told = pa.Table.from_pylist([facts[own] for own in behind])
    found = {
        name: told[name] if name in told.column_names else rows[name]
        for name in _STORED.names
        if name != "definitions"
    }
    found["definitions"] = pa.repeat(DEFINITIONS, len(rows))
    table = pa.Table.from_arrays(
        [found[field.name].cast(field.type) for field in _STORED], schema=_STORED
    )
    buffer = io.BytesIO()
    pq.write_table(table.combine_chunks(), buffer, compression="zstd")
    data = buffer.getvalue()
    root.write_bytes(f"{_FOLDER}/{hashlib.sha256(data).hexdigest()[:16]}.parquet", data)


def read_history(root: Root, metrics: pa.Table) -> pa.Table:
    """Every number that was kept, of the columns `HISTORY`.

    Parameters
    ----------
    root : Root
    metrics : pyarrow.Table
        The table of metrics: what is current.

    Returns
    -------
    pyarrow.Table
        By model, benchmark, condition, metric and variant, oldest first.

    Raises
    ------
    ShiftlakeError
        If a file of it is damaged.
    """
    names = [name for name in root.list(_FOLDER) if name.endswith(".parquet")]
    with ThreadPoolExecutor(_READERS) as pool:
        tables = list(pool.map(lambda name: _read(root, name), names))
    table = pa.concat_tables([_STORED.empty_table(), *tables])
    current = pc.is_in(table["inputs"], metrics["inputs"].combine_chunks().unique())
    table = table.append_column("current", current)
    keys = [name for name in HISTORY.names if name not in _MERGED]
    merged = table.group_by(keys, use_threads=False).aggregate([(name, "max") for name in _MERGED])
    merged = merged.rename_columns([name.removesuffix("_max") for name in merged.column_names])
    order = ("model", "benchmark", "condition", "metric", "variant", "evaluated_at", "run_id")
    return merged.select(HISTORY.names).sort_by([(name, "ascending") for name in order])


def _facts(runs: list[Run]) -> dict[str, str]:
    facts = {name: _joined(fact(run) for run in runs) for name, fact in _FACTS.items()}
    return facts | {"evaluated_at": max(run.ended_at or "" for run in runs)}


def _joined(values: Iterable[object]) -> str:
    return ", ".join(sorted({str(value) for value in values if value is not None}))


def _read(root: Root, name: str) -> pa.Table:
    try:
        table = pq.ParquetFile(io.BytesIO(root.read_bytes(name)), pre_buffer=False).read(
            use_threads=False
        )
        return table.select(_STORED.names).cast(_STORED)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise ShiftlakeError(
            "A part of the history of results cannot be read.",
            expected="the table of numbers that was stored",
            found=" ".join(str(error).split()),
            where=root.at(name),
            remedy="restore the file from a copy, or remove it: superseded numbers in it are lost",
        ) from error
