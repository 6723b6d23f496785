"""Predictions files: written so that equal rows are equal bytes, and trusted only if whole."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.parquet import write_rows
from ops.inference.record import PredictionFile, RunRecord
from ops.inference.schema import PREDICTIONS, SCHEMA_VERSION
from ops.shards import ShardEntry
from ops.storage import Root

_KEY = b"shiftlake.key"
_SHARD = b"shiftlake.shard_sha256"
_ROWS = b"shiftlake.rows"
_SCHEMA = b"shiftlake.schema_version"


@dataclass(frozen=True)
class Finished:
    """The published files of a shard, and how many of its rows have no prediction."""

    file: PredictionFile
    n_error: int
    logits: PredictionFile | None = None


def file_name(entry: ShardEntry) -> str:
    """Name of the predictions file of a shard."""
    return f"{entry.name.removesuffix('.tar')}.parquet"


def publish(
    root: Root,
    folder: str,
    key: str,
    entry: ShardEntry,
    rows: list[pa.RecordBatch],
    frames: int | None = None,
) -> Finished:
    """Write the predictions of one shard.

    Parameters
    ----------
    root : Root
    folder : str
        The evaluation's folder below the root.
    key : str
        The result key.
    entry : ShardEntry
        The shard.
    rows : list of pyarrow.RecordBatch
        Its rows, in any order.
    frames : int or None
        Rows of each sample, where these are sequences.

    Returns
    -------
    Finished

    Raises
    ------
    ShiftlakeError
        If not every sample, or frame, of the shard has exactly one row.
    """
    table = pa.Table.from_batches(rows, schema=PREDICTIONS).sort_by("sample_key")
    unique = pc.count_distinct(table["sample_key"]).as_py()
    expected = entry.n_samples * (frames or 1)
    if not table.num_rows == unique == expected:
        raise ShiftlakeError(
            "A shard was not evaluated exactly once.",
            expected=f"{expected:,} rows, one for each {'frame' if frames else 'sample'}",
            found=f"{table.num_rows:,} rows with {unique:,} keys",
            where=entry.name,
            remedy="build the dataset again: its shard contradicts its manifest",
        )
    buffer = io.BytesIO()
    write_rows(table, buffer, footer(key, entry, expected))
    data = buffer.getvalue()
    root.write_bytes(f"{folder}/{file_name(entry)}", data)
    return _described(entry, data, table)


def whole(root: Root, folder: str, record: RunRecord, logits: bool = False) -> bool:
    """Whether every file of a finished evaluation is there with its recorded size.

    With `logits`, also whether it has logits, and their files are there.

    Sizes alone, since this is asked before every evaluation that is already finished; where one
    contradicts, :func:`kept` looks into the files.
    """
    there = [(file.name, file.bytes) for file in record.files]
    if logits:
        if len(record.logit_files) != len(record.files):
            return False
        there += [(f"logits/{file.name}", file.bytes) for file in record.logit_files]
    return all(root.size(f"{folder}/{name}") == size for name, size in there)


def kept(
    root: Root, folder: str, key: str, entry: ShardEntry, frames: int | None = None
) -> Finished | None:
    """The predictions file of a shard, if an earlier process finished it for the same result.

    `frames` is as in :func:`publish`.

    Returns
    -------
    Finished or None
        None where it is missing, damaged, or of another result or shard.
    """
    rel = f"{folder}/{file_name(entry)}"
    if not root.exists(rel):
        return None
    data = root.read_bytes(rel)
    expected = entry.n_samples * (frames or 1)
    told = footer(key, entry, expected)
    try:
        file = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
        found = file.metadata.metadata or {}
        table = file.read()
    except (pa.ArrowException, OSError):
        return None
    if any(found.get(name) != value for name, value in told.items()):
        return None
    if table.schema != PREDICTIONS or table.num_rows != expected:
        return None
    return _described(entry, data, table)


def footer(key: str, entry: ShardEntry, rows: int) -> dict[bytes, bytes]:
    """What a file says of itself: its result, its shard, its rows and its columns' version."""
    return {
        _KEY: key.encode(),
        _SHARD: entry.sha256.encode(),
        _ROWS: str(rows).encode(),
        _SCHEMA: SCHEMA_VERSION.encode(),
    }


def _described(entry: ShardEntry, data: bytes, table: pa.Table) -> Finished:
    digest = hashlib.sha256(data).hexdigest()
    file = PredictionFile(
        name=file_name(entry), rows=table.num_rows, sha256=digest, bytes=len(data)
    )
    n_error = pc.sum(pc.not_equal(table["status"], "ok")).as_py() or 0
    return Finished(file, n_error)
