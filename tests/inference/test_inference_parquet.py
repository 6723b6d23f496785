"""Prediction rows on disk: the same bytes for the same rows, small, and open to other readers."""

from __future__ import annotations

import io
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from made_rows import network_rows

from ops.catalog import classes
from ops.inference import PREDICTIONS
from ops.inference.parquet import ROW_GROUP, write_rows

COUNT = 5000


def written(table: pa.Table, **footer: str) -> bytes:
    buffer = io.BytesIO()
    write_rows(table, buffer, {name.encode(): value.encode() for name, value in footer.items()})
    return buffer.getvalue()


def test_what_is_written_is_read_and_has_the_footer() -> None:
    for table in (
        network_rows(COUNT, classes.MASKS),
        network_rows(COUNT, frames=20),
        PREDICTIONS.empty_table(),
    ):
        read = pq.read_table(io.BytesIO(written(table, one="1", two="2")))
        assert read.schema.equals(PREDICTIONS)
        assert read.schema.metadata == {b"one": b"1", b"two": b"2"}
        assert read.replace_schema_metadata(None).equals(table)
    assert pq.read_schema(io.BytesIO(written(table))).metadata is None


def test_a_row_takes_less_than_48_bytes() -> None:
    assert len(written(network_rows(COUNT))) / COUNT < 48
    assert len(written(network_rows(COUNT, frames=20))) / COUNT < 48


def test_equal_rows_are_equal_bytes_however_they_were_batched() -> None:
    table = network_rows(COUNT, classes.MASKS)
    whole = written(table)
    assert written(table) == whole
    parts = [table.slice(start, 33) for start in range(0, table.num_rows, 33)]
    assert written(pa.concat_tables(parts)) == whole
    assert written(table.slice(0, table.num_rows - 1)) != whole


def test_duckdb_reads_what_arrow_reads(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    for table in (network_rows(COUNT, classes.MASKS), network_rows(COUNT, frames=20)):
        path.write_bytes(written(table))
        with duckdb.connect() as con:
            rows = con.sql(f"SELECT * FROM '{path}'").to_arrow_table()
        assert rows.column_names == table.column_names
        assert rows.cast(PREDICTIONS).equals(table)


def test_row_groups_are_those_of_duckdb() -> None:
    table = pa.concat_tables([network_rows(COUNT)] * 25)
    metadata = pq.read_metadata(io.BytesIO(written(table)))
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert sizes == [ROW_GROUP, 25 * COUNT - ROW_GROUP]
