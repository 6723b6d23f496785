"""Writing detections so that they exist as a whole or not at all, and reading them back."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.detections.record import DetectionsRecord, StoredFile
from ops.inference.detections.schema import (
    BOXES_FILE,
    DETECTIONS,
    FRAMES,
    FRAMES_FILE,
    RECORD_FILE,
)
from ops.storage import Root

ROW_GROUP = 122_880


class _Hashing(io.RawIOBase):
    """A file that is hashed as it is written."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._sha256, self.size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        self._file.write(data)
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        return self.size

    def digest(self) -> str:
        return self._sha256.hexdigest()


class TableFile:
    """A Parquet file that grows by batches, of any size, in row groups of one size.

    Made by :func:`table_file`. Equal rows give equal bytes, however they came in batches.
    """

    def __init__(self, sink: _Hashing, name: str, schema: pa.Schema) -> None:
        self._sink, self._name, self._schema = sink, name, schema
        self._writer = pq.ParquetWriter(
            sink,
            schema,
            compression="zstd",
            compression_level=3,
            write_page_checksum=True,
            store_schema=False,
            use_dictionary=[field.name for field in schema if pa.types.is_string(field.type)],
        )
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = self.rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._waiting.append(batch)
        self._n_waiting += batch.num_rows
        self.rows += batch.num_rows
        if self._n_waiting >= ROW_GROUP:
            table = pa.Table.from_batches(self._waiting, self._schema)
            whole = table.num_rows // ROW_GROUP * ROW_GROUP
            self._writer.write_table(table.slice(0, whole).combine_chunks(), ROW_GROUP)
            self._waiting = table.slice(whole).to_batches()
            self._n_waiting = table.num_rows - whole

    def close(self) -> StoredFile:
        """Write what is left; what the file then holds."""
        if self._n_waiting or not self.rows:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table.combine_chunks(), ROW_GROUP)
        self.release()
        return StoredFile(
            name=self._name,
            rows=self.rows,
            bytes=self._sink.size,
            sha256=self._sink.digest(),
        )

    def release(self) -> None:
        """End the file as it is; nothing happens where it has ended."""
        self._writer.close()


@contextmanager
def table_file(root: Root, folder: str, name: str, schema: pa.Schema) -> Iterator[TableFile]:
    """Write a Parquet file that appears once the block has closed it and ends without an error."""
    with root.writer(f"{folder}/{name}") as file:
        table = TableFile(_Hashing(file), name, schema)
        try:
            yield table
        finally:
            # After an error too: Arrow would write its footer later, into a file that is gone.
            table.release()


def write_frames(
    root: Root,
    folder: str,
    keys: list[str],
    boxes: Iterable[int],
    failed: dict[str, tuple[str, str]],
) -> StoredFile:
    """Write the row of every frame; `failed` gives status and reason of those that did, by key."""
    columns = [
        keys,
        [failed.get(key, ("ok", None))[0] for key in keys],
        [failed.get(key, ("ok", None))[1] for key in keys],
        list(boxes),
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, FRAMES, strict=True)]
    with table_file(root, folder, FRAMES_FILE, FRAMES) as file:
        file.write(pa.RecordBatch.from_arrays(arrays, schema=FRAMES))
        return file.close()


def seal(root: Root, record: DetectionsRecord) -> DetectionsRecord:
    """Publish the record, after which the detections exist.

    Raises
    ------
    ShiftlakeError
        If the numbers of frames do not add up, or a file is not there as it was written.
    """
    counted = {file.name: file.rows for file in record.files}
    expected = {BOXES_FILE: record.n_detections, FRAMES_FILE: record.n_expected}
    if counted != expected or record.n_seen + record.n_error != record.n_expected:
        raise ShiftlakeError(
            "Frames were not looked at exactly once.",
            expected=f"{record.n_expected:,} frames, {record.n_detections:,} boxes",
            found=f"{record.n_seen:,} seen, {record.n_error:,} failed; rows {counted}",
            where=record.folder(),
            remedy="detect again; if it stays, the dataset contradicts its manifest: verify it",
        )
    root.write_json(f"{record.folder()}/{RECORD_FILE}", record.model_dump(mode="json"))
    return record


def read_boxes(root: Root, record: DetectionsRecord) -> pa.Table:
    """All stored boxes, with the columns of `DETECTIONS`.

    Raises
    ------
    ShiftlakeError
        If the file is missing or is not the one that was sealed.
    """
    return _read(root, record, BOXES_FILE, DETECTIONS)


def read_frames(root: Root, record: DetectionsRecord) -> pa.Table:
    """The row of every frame, with the columns of `FRAMES`; errors as :func:`read_boxes`."""
    return _read(root, record, FRAMES_FILE, FRAMES)


def _read(root: Root, record: DetectionsRecord, name: str, schema: pa.Schema) -> pa.Table:
    path = f"{record.folder()}/{name}"
    expected = {file.name: file.sha256 for file in record.files}.get(name)
    try:
        data = root.read_bytes(path)
        found = f"sha256 {hashlib.sha256(data).hexdigest()}"
    except FileNotFoundError:
        data, found = b"", "no file"
    if found != f"sha256 {expected}":
        raise ShiftlakeError(
            "A file of stored detections is not the one that was sealed.",
            expected=f"sha256 {expected}",
            found=found,
            where=root.at(path),
            remedy="remove the folder, and import or detect again",
        )
    return pq.read_table(io.BytesIO(data)).cast(schema)
