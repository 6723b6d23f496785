"""The tables beside mined frames, written by hand as mining leaves them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ops.storage import Root, paths
from ops.video.mining.tables import MINED_TABLES, SEAL


def seal_tables(
    root: Root, source: str, version: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """Write tables given by name as rows, and give their seals for the manifest.

    Source and version are added; a column that a row lacks is null, and what is none is left out.
    """
    seals: dict[str, Any] = {}
    for name, rows in tables.items():
        told = [{"source": source, "mined_version": version, **row} for row in rows]
        data = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(told, schema=MINED_TABLES[name]), data)
        root.write_bytes(paths.mined(source, version, f"{name}.parquet"), data.getvalue())
        sha256 = hashlib.sha256(data.getvalue()).hexdigest()
        seals[name] = {"sha256": sha256, "rows": len(rows)}
    root.write_json(paths.mined(source, version, SEAL), {"tables": seals})
    return seals
