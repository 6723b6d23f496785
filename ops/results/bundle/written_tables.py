"""The tables of a bundle: Parquet files, and the DuckDB file that holds them and the views."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from ops.results.connection import MACROS, TABLES, VIEWS
from ops.results.sql_text import quoted

if TYPE_CHECKING:
    import duckdb

# As large as the predictions, or made of them with nothing but SQL: views over the predictions.
# `accuracy` is a table, one row an accuracy: plain DuckDB has no function for its interval.
_OVER_ROWS = ("counts", "flips", "pmk_frames", "pmk_sets")
# One row a sequence, frame or frame set is no summary, and a frame's key has its video's name.
_ROWS_ALONE = (
    "flips",
    "pmk_frames",
    "pmk_sets",
    "frames",
    "frames_left_out",
    "frame_pairs",
    "reviewed_frames",
)
# Who said what of which frame, and which files somebody has: no result, and not for others.
_PRIVATE = ("review_events", "videos")
_ROWS_A_GROUP = 1 << 17


def write_tables(
    lake: duckdb.DuckDBPyConnection, folder: Path, models: list[str], rows: bool
) -> dict[str, int]:
    """Write every table that is for others as ``<name>.parquet``, a batch of rows at a time.

    Parameters
    ----------
    lake : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    folder : Path
        It is made.
    models : list of str
        Those that are in the bundle.
    rows : bool
        Whether the predictions are in it.

    Returns
    -------
    dict of str to int
        Rows of each table.
    """
    folder.mkdir()
    counts = {}
    left_out = {"predictions", *_PRIVATE, *(_OVER_ROWS if rows else _ROWS_ALONE)}
    for name in sorted({*TABLES, *VIEWS} - left_out):
        columns = [row[0] for row in lake.execute(f"DESCRIBE {name}").fetchall()]
        # ORDER BY ALL: the order of rows in a view is nobody's promise.
        query = f"SELECT * FROM {name} {_filter(name, columns)} ORDER BY ALL"
        parameters = {"models": models} if "$models" in query else None
        counts[name] = _write(lake, query, parameters, folder / f"{name}.parquet")
    if rows:
        from ops.inference.schema import PREDICTIONS

        pq.write_table(PREDICTIONS.empty_table(), folder / "no_predictions.parquet")
    return counts


def write_database(path: Path, tables: dict[str, int], rows: bool) -> None:
    """Write the DuckDB file: the tables beside it, and every view and macro that it can have."""
    import duckdb

    with duckdb.connect(str(path)) as database:
        # Views are bound as they are made, and name files by their path in the bundle.
        database.execute(f"SET file_search_path = {quoted(str(path.parent))}")
        for name in tables:
            database.execute(f"CREATE TABLE {name} AS FROM 'tables/{name}.parquet'")
        if rows:
            # A pattern has to fit a file; this one stays behind.
            stand_in = path.parent / "predictions" / "none.parquet"
            stand_in.parent.mkdir()
            stand_in.write_bytes((path.parent / "tables/no_predictions.parquet").read_bytes())
            for name in ("bundle_predictions", *_OVER_ROWS):
                database.execute(_sql(name))
        for name in MACROS:
            # Another DuckDB has none of the functions that are written in Python.
            of_python = "error_kappa(" in _sql(name)
            if not of_python and (rows or "predictions" not in _sql(name)):
                database.execute(_sql(name))


def _filter(name: str, columns: list[str]) -> str:
    if name == "effective_robustness":
        return "WHERE origin <> 'lake' OR list_contains($models, model)"
    if name == "gate":
        return "WHERE list_contains($models, candidate) OR list_contains($models, baseline)"
    if name == "reference_results" or "model" not in columns:
        return ""
    return "WHERE coalesce(model, '') = '' OR list_contains($models, model)"


def _write(
    lake: duckdb.DuckDBPyConnection,
    query: str,
    parameters: dict[str, list[str]] | None,
    path: Path,
) -> int:
    reader = lake.sql(query, params=parameters).to_arrow_reader(_ROWS_A_GROUP)
    n = 0
    with pq.ParquetWriter(path, reader.schema, compression="zstd") as file:
        for batch in reader:
            file.write_batch(batch, row_group_size=_ROWS_A_GROUP)
            n += batch.num_rows
    return n


def _sql(name: str) -> str:
    return files("ops.results").joinpath(f"sql/{name}.sql").read_text("utf-8")
