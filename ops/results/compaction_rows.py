"""The rows of one run, merged from its files into one, or few where it has very many rows."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.parquet import write_rows
from ops.inference.schema import SCHEMA_VERSION, upgraded
from ops.results.compaction_index import parts_name
from ops.results.runs import Run, RunFile
from ops.storage import Root
from ops.storage.stamp import sizes_of

# Rows of one merged file: some 400 MB of memory while it is written.
ROWS = 1 << 19


def worth_merging(run: Run) -> bool:
    """Whether merged files would be fewer than a run's own, or need no conversion."""
    # Records of the oldest releases do not say what is in their files.
    sealed = all(file.sha256 for file in run.files)
    return sealed and (len(run.files) > 1 or run.schema_version != SCHEMA_VERSION)


def whole_parts(root: Root, table: pa.Table) -> list[list[dict[str, Any]] | None]:
    """The files each run was merged into; None where not all are there with the noted size.

    Parameters
    ----------
    root : Root
    table : pyarrow.Table
        Of runs, with the column `parts` of the index.
    """
    noted = table["parts"].to_pylist()
    wanted = [part for parts in noted for part in parts or ()]
    sizes = sizes_of(root, [part["name"] for part in wanted])
    whole = {
        part["name"] for part, size in zip(wanted, sizes, strict=True) if size == part["bytes"]
    }
    return [
        parts if parts and whole.issuperset(part["name"] for part in parts) else None
        for parts in noted
    ]


def merge(root: Root, run: Run) -> list[dict[str, Any]]:
    """Write the rows of a run in the order of its files.

    Parameters
    ----------
    root : Root
    run : Run
        Sealed.

    Returns
    -------
    list of dict
        Name below the root, rows and bytes of each file.

    Raises
    ------
    ShiftlakeError
        If one of the run's files is not what its seal says.
    """
    parts = []
    for number, table in enumerate(_tables(root, run)):
        name = f"{parts_name(run)}-{number}.parquet"
        buffer = io.BytesIO()
        write_rows(table, buffer)
        data = buffer.getvalue()
        # The index tells its size, and every reader compares it.
        root.write_bytes(name, data, durable=False)
        parts.append({"name": name, "rows": len(table), "bytes": len(data)})
    return parts


def _tables(root: Root, run: Run) -> Iterator[pa.Table]:
    """Rows of the run's files, as many files at a time as `ROWS` allows."""
    group: list[pa.Table] = []
    for file in run.files:
        if group and sum(map(len, group)) + file.rows > ROWS:
            yield pa.concat_tables(group)
            group = []
        group.append(_table(root, run, file))
    yield pa.concat_tables(group)


def _table(root: Root, run: Run, file: RunFile) -> pa.Table:
    path = f"{run.folder}/{file.name}"
    try:
        data = root.read_bytes(path)
    except FileNotFoundError:
        data = b""
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise ShiftlakeError(
            "A file of predictions is not the one that was sealed.",
            expected=f"{file.bytes:,} bytes with the SHA-256 {file.sha256}",
            found=f"{len(data):,} bytes of another content" if data else "no file",
            where=root.at(path),
            remedy="remove the file and evaluate again: whole shards are kept",
        )
    return upgraded(pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False))
