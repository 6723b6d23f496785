"""The tables of a mining, put together from the rows of its shards."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.storage import Root, paths
from ops.video.datasets import mined_dataset
from ops.video.mining.examined import ExaminedClip
from ops.video.mining.parts import read_part
from ops.video.mining.rows import frame_set_key
from ops.video.mining.suspicion import REASONS, suspicion
from ops.video.mining.tables import MINED_TABLES, SEAL

Seals = dict[str, dict[str, Any]]


def write_tables(
    root: Root,
    source: str,
    version: str,
    shards: Sequence[str],
    clips: Sequence[ExaminedClip],
    places: int,
) -> Seals:
    """Write all tables of a mining, and their hashes beside them.

    Parameters
    ----------
    root : Root
    source, version : str
    shards : sequence of str
        Names, in order.
    clips : sequence of ExaminedClip
        In the order of their keys.
    places : int
        Frames of a full set, ``2k + 1``.

    Returns
    -------
    dict
        sha256 and number of rows of each table.

    Raises
    ------
    ShiftlakeError
        If the frames and what was left out are not ``2k + 1`` for every anchor.
    """

    def parts(table: str) -> Iterator[pa.Table]:
        for shard in shards:
            yield read_part(root, source, version, shard, table)

    left_out = pa.concat_tables(parts("left_out")) if shards else _empty("left_out")
    seals: Seals = {}
    for table, found in (
        ("frames", parts("frames")),
        ("left_out", iter([left_out])),
        ("pairs", _suspected(list(parts("pairs")))),
        ("videos", iter([_videos(source, version, clips, left_out)])),
    ):
        seals[table] = _write(root, source, version, table, found)
    _require_accounted(source, clips, places, seals)
    root.write_json(paths.mined(source, version, SEAL), {"tables": seals})
    return seals


def _write(
    root: Root, source: str, version: str, table: str, parts: Iterator[pa.Table]
) -> dict[str, Any]:
    target = io.BytesIO()
    rows = 0
    with pq.ParquetWriter(target, MINED_TABLES[table], compression="zstd") as writer:
        for part in parts:
            writer.write_table(part)
            rows += part.num_rows
    data = target.getvalue()
    root.write_bytes(paths.mined(source, version, f"{table}.parquet"), data)
    return {"sha256": hashlib.sha256(data).hexdigest(), "rows": rows}


def _suspected(parts: list[pa.Table]) -> Iterator[pa.Table]:
    """Pairs with their ranks: only with all of them together is one more suspicious than others."""
    scores = {
        name: np.concatenate([part[name].to_numpy() for part in parts] or [np.empty(0)])
        for name in REASONS
    }
    ranks, reasons = suspicion(scores)
    at = 0
    for part in parts:
        end = at + part.num_rows
        yield (
            part.drop_columns(["suspicion", "suggested"])
            .append_column("suspicion", pa.array(ranks[at:end], pa.float64()))
            .append_column("suggested", pa.array(reasons[at:end], pa.string()))
        )
        at = end


def _videos(
    source: str, version: str, clips: Sequence[ExaminedClip], left_out: pa.Table
) -> pa.Table:
    damaged: Counter[str] = Counter()
    failed: dict[str, str] = {}
    rows = left_out.filter(pc.is_in(left_out["reason"], pa.array(["damaged", "boundary"])))
    for row in rows.to_pylist():
        damaged[row["frame_set"]] += row["reason"] == "damaged"
        if row["frame_offset"] == 0:
            failed[row["frame_set"]] = row["detail"] or "the video ends before it"
    stamped = []
    for clip in clips:
        sets = {frame_set_key(clip.key, anchor): anchor for anchor in clip.anchors}
        lost = [frame_set for frame_set in sets if frame_set in failed]
        row = {"source": source, "mined_version": version, **clip.row}
        row["n_anchors"] = len(sets) - len(lost)
        row["n_damaged"] = sum(damaged[frame_set] for frame_set in sets)
        notes = [f"anchor at frame {sets[each]} is lost: {failed[each]}" for each in lost]
        if notes:
            row["reason"] = "; ".join(filter(None, (row["reason"], *notes)))
            row["status"] = row["status"] if row["n_anchors"] else "failed"
        stamped.append(row)
    return pa.Table.from_pylist(stamped, schema=MINED_TABLES["videos"])


def _empty(table: str) -> pa.Table:
    return MINED_TABLES[table].empty_table()


def _require_accounted(
    source: str, clips: Sequence[ExaminedClip], places: int, seals: Seals
) -> None:
    expected = places * sum(len(clip.anchors) for clip in clips)
    found = seals["frames"]["rows"] + seals["left_out"]["rows"]
    if found != expected:
        raise ShiftlakeError(
            f"{source}: frames are not accounted for; nothing was sealed.",
            expected=f"{expected:,} frames, taken or left out",
            found=f"{found:,}",
            where=mined_dataset(source),
            remedy="this is a fault of the mining; remove the unsealed dataset and mine again",
        )
