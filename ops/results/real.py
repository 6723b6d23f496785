"""The reassessed labels of the validation images as a table, cached beside the results."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.shards import read_manifest, read_shard
from ops.storage import Root, paths

DATASET = "imagenet_real/clean"
SCHEMA = pa.schema([("source_key", pa.string()), ("labels", pa.list_(pa.int16()))])


def real_labels(root: Root) -> pa.Table:
    """Reassessed labels, one row a validation image, sorted by source key.

    Returns
    -------
    pyarrow.Table
        Columns source_key and labels (empty lists stay: those images do not count). No rows
        where the dataset is not sealed, or its manifest is damaged.

    Notes
    -----
    The labels lie in 50,000 small tar members. They are read once and kept as
    ``results/real_labels-<dataset version>.parquet``, or in scratch where the root cannot be
    written.
    """
    try:
        manifest = read_manifest(root, DATASET)
    except ShiftlakeError:
        return SCHEMA.empty_table()
    name = f"real_labels-{manifest.version}.parquet"
    cached = paths.results(name)
    if root.exists(cached) and (known := _table(root.read_bytes(cached))) is not None:
        return known
    spare = _spare(root, name)
    if spare is not None and spare.exists() and (known := _table(spare.read_bytes())) is not None:
        return known
    rows = sorted(
        (str(sample.meta["source_key"]), [int(label) for label in sample.meta["labels"]])
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry)
    )
    table = pa.table(
        {"source_key": [row[0] for row in rows], "labels": [row[1] for row in rows]}, schema=SCHEMA
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    try:
        root.write_bytes(cached, buffer.getvalue())
    except OSError:
        # Reading results must work with read-only credentials, and on a read-only disk.
        if spare is not None:
            # Another process may read it meanwhile: it is there whole, or not at all.
            partial = spare.with_name(f".{spare.name}.{uuid.uuid4().hex[:12]}.part")
            partial.write_bytes(buffer.getvalue())
            partial.replace(spare)
    return table


def _table(data: bytes) -> pa.Table | None:
    # A cache that cannot be read is no loss: it is made again.
    try:
        table = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError):
        return None
    return table if table.schema.equals(SCHEMA) else None


def _spare(root: Root, name: str) -> Path | None:
    try:
        return root.scratch() / name
    except OSError:
        return None
