"""The reassessed labels of the validation images as a table, cached beside the results."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops.shards import has_manifest, read_manifest, read_shard
from ops.storage import Root, paths

DATASET = "imagenet_real/clean"
SCHEMA = pa.schema([("source_key", pa.string()), ("labels", pa.list_(pa.int16()))])


def real_labels(root: Root) -> pa.Table:
    """Reassessed labels, one row a validation image, sorted by source key.

    Returns
    -------
    pyarrow.Table
        Columns source_key and labels (empty lists stay: those images do not count). No rows
        where the dataset is not sealed.

    Notes
    -----
    The labels lie in 50,000 small tar members. They are read once and kept as
    ``results/real_labels-<dataset version>.parquet``, or in scratch where the root cannot be
    written.
    """
    if not has_manifest(root, DATASET):
        return SCHEMA.empty_table()
    manifest = read_manifest(root, DATASET)
    name = f"real_labels-{manifest.version}.parquet"
    cached = paths.results(name)
    if root.exists(cached):
        return pq.read_table(io.BytesIO(root.read_bytes(cached)))
    spare = _spare(root, name)
    if spare is not None and spare.exists():
        return pq.read_table(spare)
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
            spare.write_bytes(buffer.getvalue())
    return table


def _spare(root: Root, name: str) -> Path | None:
    try:
        return root.scratch() / name
    except OSError:
        return None
