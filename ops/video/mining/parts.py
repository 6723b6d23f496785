"""Rows that came out of the shards of an unsealed mining, until they are put together."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ops.storage import Root, paths
from ops.video.datasets import mined_dataset
from ops.video.mining.tables import MINED_TABLES

# The tables that come out of shards; that of videos is made of these and of the first look.
PARTS = ("frames", "left_out", "pairs")


def write_part(
    root: Root, source: str, version: str, shard: str, table: str, rows: list[dict[str, Any]]
) -> None:
    """Keep the rows of one table that came out of one shard."""
    stamped = [{"source": source, "mined_version": version, **row} for row in rows]
    target = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist(stamped, schema=MINED_TABLES[table]), target, compression="zstd"
    )
    root.write_bytes(_path(source, version, shard, table), target.getvalue())


def read_part(root: Root, source: str, version: str, shard: str, table: str) -> pa.Table:
    """The rows that :func:`write_part` kept."""
    return pq.read_table(io.BytesIO(root.read_bytes(_path(source, version, shard, table))))


def has_parts(root: Root, source: str, version: str, shard: str) -> bool:
    """Whether the rows of all tables are there."""
    return all(root.exists(_path(source, version, shard, table)) for table in PARTS)


def _path(source: str, version: str, shard: str, table: str) -> str:
    return paths.shard_part(mined_dataset(source), version, f"{shard}.{table}.parquet")
