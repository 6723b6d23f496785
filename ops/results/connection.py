"""A read-only DuckDB connection with every view over one storage root."""

from __future__ import annotations

import os
import tempfile
import uuid
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ops import catalog as catalogs
from ops.metrics import clopper_pearson
from ops.results import tables
from ops.results.columns import columns
from ops.results.currency import Standing, standings
from ops.results.gate_file import read_gate
from ops.results.inventory import Inventory, take_inventory
from ops.results.metrics_file import read_metrics
from ops.results.parity_file import read_parity
from ops.results.real import real_labels
from ops.results.reference_file import read_reference
from ops.results.sealed_files import PROTOCOL, SealedFiles, sealed_files
from ops.results.status import StatusRow, status_rows
from ops.storage import Root, open_root

if TYPE_CHECKING:
    import duckdb

# In the order they are made: a view may use those before it.
VIEWS = (
    "predictions",
    "counts",
    "accuracy",
    "flips",
    "leaderboard",
    "mce",
    "pmk",
    "calibration",
    "effective_robustness",
)
MACROS = ("disagreements",)
TABLES = (
    "runs",
    "datasets",
    "models",
    "sources",
    "real_labels",
    "class_lists",
    "metrics",
    "status",
    "parity",
    "gate",
    "reference_results",
)

_STATUS = columns(
    model=pa.string(),
    dataset=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    state=pa.string(),
    reason=pa.string(),
    shards_done=pa.int64(),
    shards=pa.int64(),
    run_id=pa.string(),
    measured=pa.bool_(),
)


def connect(
    root: Root | str, *, catalog: catalogs.Catalog | None = None, memory_limit: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a read-only DuckDB connection over the sealed results of a root.

    Parameters
    ----------
    root : Root or str
        Local or ``s3://``; remote files are fetched as they are first read.
    catalog : Catalog, optional
        For the view ``status``; the default is ``ops.catalog.load()``.
    memory_limit : str, optional
        DuckDB's limit, for example ``"4GB"``; beyond it, DuckDB spills to scratch.

    Returns
    -------
    duckdb.DuckDBPyConnection
        With the views and tables named in ``VIEWS`` and ``TABLES``, and the table macros of
        ``MACROS``: a snapshot of what is sealed now.

    Notes
    -----
    Read-only is enforced by DuckDB, not by a check of the text: the database file is opened
    read-only, external access is off except for a filesystem that can only read the sealed
    files, and the configuration is locked. Temporary tables of the session are possible.
    """
    root = open_root(root)
    return open_views(root, take_inventory(root), catalog or catalogs.load(), memory_limit)


def open_views(
    root: Root,
    inventory: Inventory,
    catalog: catalogs.Catalog,
    memory_limit: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """As :func:`connect`, over an inventory already taken."""
    import duckdb

    current = standings(inventory)
    sealed = sealed_files(root, current)
    content = _content(root, inventory, current, catalog)
    # An in-memory database cannot be read-only. The file is gone once it is open.
    with tempfile.TemporaryDirectory(prefix="shiftlake-views-") as folder:
        path = str(Path(folder) / "results.duckdb")
        with duckdb.connect(path) as database:
            _attach(database, sealed)
            for name in TABLES:
                database.register("content", content[name])
                database.execute(f"CREATE TABLE {name} AS FROM content")
                database.unregister("content")
            for name in (*VIEWS, *MACROS):
                database.execute(_sql(name))
        connection = duckdb.connect(path, read_only=True)
    _attach(connection, sealed)
    connection.execute(f"SET temp_directory = '{_quoted(_spill(root))}'")
    if memory_limit is not None:
        connection.execute(f"SET memory_limit = '{_quoted(memory_limit)}'")
    for setting in (
        # A name that is no view must be an error, not a variable of some Python frame.
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_directories = ['{PROTOCOL}://predictions/']",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _content(
    root: Root, inventory: Inventory, current: list[Standing], catalog: catalogs.Catalog
) -> dict[str, pa.Table]:
    measured = read_metrics(root)
    metrics = measured.table
    fresh = {(s.run.model, s.run.run_id) for s in current if s.current and not s.stale}
    stale = [
        not fresh.issuperset((row["model"], run_id) for run_id in row["run_ids"])
        for row in metrics.select(["model", "run_ids"]).to_pylist()
    ]
    rows = status_rows(inventory, current, catalog, measured)
    return {
        "runs": tables.runs_table(current),
        "datasets": tables.datasets_table(inventory),
        "models": tables.models_table(inventory),
        "sources": tables.sources_table(inventory),
        "class_lists": tables.class_lists_table(),
        "real_labels": real_labels(root),
        "metrics": metrics.append_column("stale", pa.array(stale, pa.bool_())),
        "status": _status_table(rows),
        "parity": read_parity(root),
        "gate": read_gate(root),
        "reference_results": read_reference(root),
    }


def _status_table(rows: list[StatusRow]) -> pa.Table:
    return pa.Table.from_pylist([vars(row) for row in rows], schema=_STATUS)


def _attach(connection: duckdb.DuckDBPyConnection, sealed: SealedFiles) -> None:
    from duckdb.func import PythonUDFType

    connection.register_filesystem(sealed)
    connection.create_function(
        "clopper_pearson",
        _clopper_pearson,
        ["BIGINT", "BIGINT"],
        "STRUCT(lo DOUBLE, hi DOUBLE)",
        type=PythonUDFType.ARROW,
    )


def _clopper_pearson(k: Any, n: Any) -> Any:
    # DuckDB evaluates the annotations, and Arrow's own types take no parameters at run time.
    lo, hi = clopper_pearson(np.asarray(k), np.asarray(n))
    return pa.StructArray.from_arrays([pa.array(lo), pa.array(hi)], ["lo", "hi"])


def _sql(name: str) -> str:
    return files("ops.results").joinpath(f"sql/{name}.sql").read_text("utf-8")


def _spill(root: Root) -> str:
    # Looking into a root that does not exist, or on a read-only disk, must not write there.
    if not root.is_local or os.access(root.url, os.W_OK):
        folder = root.scratch()
    else:
        folder = Path(tempfile.gettempdir())
    # Two connections must not spill into the same files.
    return str(folder / f"duckdb-{uuid.uuid4().hex[:12]}")


def _quoted(text: str) -> str:
    return text.replace("'", "''")
