"""Tables beside the mined frames of a source: videos, frames, what was left out, and pairs."""

from __future__ import annotations

import hashlib
import io
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.storage import Root, paths
from ops.video.datasets import mined_dataset

# Between clip, anchor and frame in the key of a sample.
SEPARATOR = "/"
# Beside the tables: their hashes, so that those of an older mining can be checked as well.
SEAL = "tables.json"

Reason = Literal["boundary", "label", "damaged", "cut", "gap", "anchor", "unlisted"]
Status = Literal["ok", "failed", "missing", "no_label"]

BOX = pa.struct(
    [
        ("label", pa.int16()),
        ("xmin", pa.float64()),
        ("ymin", pa.float64()),
        ("xmax", pa.float64()),
        ("ymax", pa.float64()),
        ("track", pa.string()),
        ("occluded", pa.bool_()),
        ("generated", pa.bool_()),
    ]
)

_MINED = [("source", pa.string()), ("mined_version", pa.string())]

MINED_TABLES: dict[str, pa.Schema] = {
    # A row a video that the labels name, whether it could be mined or not. `status` is ok,
    # failed, missing or no_label; `seconds` from the first frame to the last.
    "videos": pa.schema(
        [
            *_MINED,
            ("clip", pa.string()),
            ("video", pa.string()),
            ("file", pa.string()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("n_frames", pa.int32()),
            ("fps", pa.float64()),
            ("variable_rate", pa.bool_()),
            ("codec", pa.string()),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("rotation", pa.int16()),
            ("color_space", pa.string()),
            ("seconds", pa.float64()),
            ("sha256", pa.string()),
            ("n_anchors", pa.int32()),
            ("n_damaged", pa.int32()),
        ]
    ),
    # A row a sample, in the order of the shards. `frame_offset` in steps of the stride, `dt` in
    # seconds from the anchor, `boxes` in pixels as displayed and only where they are annotated.
    "frames": pa.schema(
        [
            *_MINED,
            ("sample_key", pa.string()),
            ("frame_set", pa.string()),
            ("frame_offset", pa.int16()),
            ("clip", pa.string()),
            ("video", pa.string()),
            ("frame", pa.int32()),
            ("seconds", pa.float64()),
            ("dt", pa.float64()),
            ("pict_type", pa.string()),
            ("labels", pa.list_(pa.int16())),
            ("label_source", pa.string()),
            ("boxes", pa.list_(BOX)),
            ("annotated", pa.bool_()),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("fps", pa.float64()),
            ("sha256", pa.string()),
        ]
    ),
    # A row a place of a set that has no frame, so that a set has 2k + 1 rows here and in `frames`
    # together. `anchor` stands at the other frames of a set whose anchor is damaged, `unlisted`
    # at those that a published set does not have.
    "left_out": pa.schema(
        [
            *_MINED,
            ("frame_set", pa.string()),
            ("frame_offset", pa.int16()),
            ("reason", pa.string()),
            ("detail", pa.string()),
        ]
    ),
    # A row a neighbour: how similar it is to its anchor (1 is the same), and how early it should
    # be looked at. `suspicion` orders, it decides nothing.
    "pairs": pa.schema(
        [
            *_MINED,
            ("frame_set", pa.string()),
            ("frame_offset", pa.int16()),
            ("sample_key", pa.string()),
            ("displacement", pa.float64()),
            ("structure", pa.float64()),
            ("blur", pa.float64()),
            ("histogram", pa.float64()),
            ("suspicion", pa.float64()),
            ("suggested", pa.string()),
        ]
    ),
}


def read_mined(root: Root, source: str, table: str, version: str | None = None) -> pa.Table:
    """Read a table of a mining, compared with its seal.

    Parameters
    ----------
    root : Root
    source : str
    table : str
        One of `MINED_TABLES`.
    version : str, optional
        Of the mining; that of the sealed dataset by default. Tables of older minings stay.

    Returns
    -------
    pyarrow.Table
        With the schema of `MINED_TABLES`.

    Raises
    ------
    DatasetMissing
        If no version is given and nothing is sealed.
    ShiftlakeError
        If the table is missing, or is not the one that was sealed.
    """
    schema = MINED_TABLES[table]
    if version is None:
        manifest = read_manifest(root, mined_dataset(source))
        version = manifest.version
        seals = (manifest.renderer or {}).get("tables", {})
    else:
        seals = _seals(root, source, version)
    path = paths.mined(source, version, f"{table}.parquet")
    try:
        data = root.read_bytes(path)
    except FileNotFoundError:
        raise _damaged(root, path, f"the table of mining {version}", "no file") from None
    expected = seals.get(table, {}).get("sha256")
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise _damaged(root, path, f"sha256 {expected}", f"sha256 {found}")
    return pq.read_table(io.BytesIO(data)).cast(schema)


def _seals(root: Root, source: str, version: str) -> dict[str, Any]:
    path = paths.mined(source, version, SEAL)
    try:
        seals: dict[str, Any] = root.read_json(path)["tables"]
    except FileNotFoundError:
        raise _damaged(root, path, f"a mining of version {version}", "no file") from None
    return seals


def _damaged(root: Root, path: str, expected: object, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "A table of mined frames is not the one that was sealed.",
        expected=expected,
        found=found,
        where=root.at(path),
        remedy="mine the source again; the same videos and labels give the same tables",
    )
