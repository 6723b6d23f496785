"""The raw outputs of a model, kept as float16 beside its rows where they are asked for.

A thousand outputs take about 1,850 bytes a row on disk: 92 MB for 50,000 images, 6.9 GB for the 75
conditions of ImageNet-C, 30 GB for ImageNet-P.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.files import file_name, footer
from ops.inference.record import PredictionFile, RunRecord
from ops.inference.scores import Logits
from ops.shards import ShardEntry
from ops.storage import Root, paths

_LARGEST = np.float32(np.finfo(np.float16).max)
_ROW_GROUP = 8192


def logit_rows(rows: pa.RecordBatch, outputs: Logits) -> pa.RecordBatch:
    """The outputs of a batch with the keys of its rows.

    Parameters
    ----------
    rows : pyarrow.RecordBatch
        The batch's prediction rows.
    outputs : float32 array, shape (rows, outputs)
        Of the model itself: not projected, not masked.

    Returns
    -------
    pyarrow.RecordBatch
        `sample_key`, and `logits` as float16, rounded to nearest; beyond 65,504 the largest
        float16. NULL where the image cannot be decoded.
    """
    read = np.asarray(pc.equal(rows["status"], "ok"))
    # What a model says about a black image may be no number, and stands in no file.
    half = np.where(read[:, None], outputs, np.float32(0))
    half = np.clip(half, -_LARGEST, _LARGEST).astype(np.float16)
    lists = pa.FixedSizeListArray.from_arrays(
        pa.array(half.reshape(-1)), outputs.shape[1], mask=pa.array(~read)
    )
    return pa.RecordBatch.from_arrays([rows["sample_key"], lists], names=["sample_key", "logits"])


def publish_logits(
    root: Root, folder: str, key: str, entry: ShardEntry, batches: list[pa.RecordBatch]
) -> PredictionFile:
    """Write the logits of one shard, sorted by sample key.

    Parameters
    ----------
    root : Root
    folder : str
        The evaluation's folder below the root.
    key : str
        The result key.
    entry : ShardEntry
        The shard.
    batches : list of pyarrow.RecordBatch
        As from :func:`logit_rows`, one row for each of the shard's prediction rows.
    """
    table = pa.Table.from_batches(batches)
    table = table.take(pc.sort_indices(table["sample_key"])).combine_chunks()
    buffer = io.BytesIO()
    # Fixed, as for the rows. Bytes in streams of their own would save a twelfth, but no DuckDB
    # reads float16 in that form, and a higher level of zstd saves nothing.
    pq.write_table(
        table.replace_schema_metadata(footer(key, entry, table.num_rows)),
        buffer,
        version="2.6",
        compression="zstd",
        compression_level=1,
        row_group_size=_ROW_GROUP,
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )
    data = buffer.getvalue()
    root.write_bytes(f"{folder}/logits/{file_name(entry)}", data)
    return _described(entry, data, table.num_rows)


def kept_logits(
    root: Root, folder: str, key: str, entry: ShardEntry, rows: int
) -> PredictionFile | None:
    """The logits of a shard, if an earlier process finished them for the same result.

    Returns
    -------
    PredictionFile or None
        None where they are missing, damaged, or of another result or shard.
    """
    rel = f"{folder}/logits/{file_name(entry)}"
    if not root.exists(rel):
        return None
    data = root.read_bytes(rel)
    try:
        file = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
        found = file.metadata.metadata or {}
        count = sum(len(batch) for batch in file.iter_batches())
    except (pa.ArrowException, OSError):
        return None
    told = footer(key, entry, rows)
    if count != rows or any(found.get(name) != value for name, value in told.items()):
        return None
    return _described(entry, data, count)


def read_logits(
    root: Root, record: RunRecord
) -> Iterator[tuple[list[str], npt.NDArray[np.float16]]]:
    """The logits of an evaluation that kept them, some thousand rows at a time.

    Parameters
    ----------
    root : Root
    record : RunRecord
        As from :func:`ops.inference.read_run`.

    Yields
    ------
    (list of str, float16 array of shape (rows, outputs))
        Sample keys, ascending within a shard, and the model's raw outputs; NaN where the image
        cannot be decoded.

    Raises
    ------
    ShiftlakeError
        If the evaluation kept none, or a file of them is gone.
    """
    folder = paths.logits(record.model, record.dataset, record.key)
    where = f"{record.model} on {record.dataset}"
    remedy = "evaluate with logits=True; rows that are there stay what they are"
    if not record.logit_files:
        raise ShiftlakeError(
            "An evaluation kept no logits.",
            expected=f"{len(record.files)} files of logits",
            found="none",
            where=where,
            remedy=remedy,
        )
    for named in record.logit_files:
        rel = f"{folder}/{named.name}"
        if root.size(rel) != named.bytes:
            raise ShiftlakeError(
                "Logits are not those that were recorded.",
                expected=f"{named.bytes:,} bytes",
                found=f"{size:,} bytes" if (size := root.size(rel)) is not None else "no file",
                where=root.at(rel),
                remedy=remedy,
            )
        file = pq.ParquetFile(root.local_copy(rel))
        for batch in file.iter_batches(batch_size=_ROW_GROUP):
            lists = batch["logits"]
            width = lists.type.list_size
            flat = lists.values.slice(lists.offset * width, len(lists) * width)
            values = flat.to_numpy(zero_copy_only=False).reshape(-1, width).copy()
            values[np.asarray(lists.is_null())] = np.nan
            yield batch["sample_key"].to_pylist(), values


def _described(entry: ShardEntry, data: bytes, rows: int) -> PredictionFile:
    digest = hashlib.sha256(data).hexdigest()
    return PredictionFile(name=file_name(entry), rows=rows, sha256=digest, bytes=len(data))
