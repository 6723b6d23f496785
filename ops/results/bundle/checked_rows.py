"""Whether the rows of a run are those that its record speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.results.bundle.manifest import damaged
from ops.storage import Root

if TYPE_CHECKING:
    from ops.inference.record import RunRecord

_NAMED = ("run_id", "model", "benchmark", "condition", "dataset_version")


def check_rows(folder: Path, record: RunRecord, bundle: Root) -> None:
    """Read every row of a run, a batch at a time.

    Parameters
    ----------
    folder : Path
        Where its files lie on this machine.
    record : RunRecord
    bundle : Root
        For the error.

    Raises
    ------
    ShiftlakeError
        If a file cannot be read or has other columns, if rows are missing, too many, twice or of
        another model, dataset or run, or if the counts of the record are not theirs.
    """
    rows = seen = 0
    keys: list[pa.Array] = []
    for stated in record.files:
        at = f"{record.model}/{record.dataset}, {stated.name}"
        try:
            with pq.ParquetFile(folder / stated.name, pre_buffer=False) as file:
                _check_columns(file.schema_arrow, record.schema_version, at, bundle)
                if file.metadata.num_rows != stated.rows:
                    found = f"{at}: {file.metadata.num_rows:,} rows"
                    raise damaged(f"{stated.rows:,} rows", found, bundle)
                for batch in file.iter_batches(use_threads=False):
                    _check_named(batch, record, at, bundle)
                    keys.append(batch["sample_key"])
                    rows += batch.num_rows
                    seen += pc.sum(pc.equal(batch["status"], "ok")).as_py() or 0
        except (pa.ArrowException, OSError) as error:
            raise damaged("a Parquet file of predictions", f"{at}: {error}", bundle) from error
    at = f"{record.model}/{record.dataset}"
    if (rows, seen) != (record.n_expected, record.n_seen):
        found = f"{at}: {rows:,} rows, {seen:,} of them seen"
        raise damaged(f"{record.n_expected:,} rows, {record.n_seen:,} seen", found, bundle)
    if (different := pc.count_distinct(pa.chunked_array(keys, pa.string())).as_py()) != rows:
        raise damaged("every sample once", f"{at}: {different:,} in {rows:,} rows", bundle)


def _check_columns(schema: pa.Schema, version: str, at: str, bundle: Root) -> None:
    from ops.inference.schema import PREDICTIONS, SCHEMA_VERSION

    plain = schema.remove_metadata()
    # An older release had fewer columns, and some that are no longer kept.
    known = [field for field in plain if field.name in PREDICTIONS.names]
    required = PREDICTIONS.names if version == SCHEMA_VERSION else (*_NAMED, "sample_key", "status")
    missing = sorted({*required} - {*plain.names})
    if missing:
        raise damaged(f"the column {missing[0]}", f"{at}: none", bundle)
    if version == SCHEMA_VERSION and len(plain) != len(PREDICTIONS):
        extra = sorted({*plain.names} - {*PREDICTIONS.names})
        raise damaged("the columns of predictions", f"{at}: {', '.join(extra)}, too", bundle)
    for field in known:
        if field.type != (wanted := PREDICTIONS.field(field.name).type):
            raise damaged(f"{field.name}: {wanted}", f"{at}: {field.type}", bundle)


def _check_named(batch: pa.RecordBatch, record: RunRecord, at: str, bundle: Root) -> None:
    for name in _NAMED:
        found, expected = pc.unique(batch[name]).to_pylist(), getattr(record, name)
        if found not in ([], [expected]):
            raise damaged(f"{name} {expected}", f"{at}: {found}"[:300], bundle)
    if batch["sample_key"].null_count:
        raise damaged("a key for every sample", f"{at}: NULL", bundle)
