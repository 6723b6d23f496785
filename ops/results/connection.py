"""A read-only DuckDB connection with every view over one storage root."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ops import catalog as catalogs
from ops.metrics import clopper_pearson, error_consistency
from ops.metrics.mcnemar import mcnemar
from ops.metrics.paired_difference import paired_difference
from ops.models.fine_tuned import seen_in_training
from ops.results import tables
from ops.results.columns import columns
from ops.results.currency import Judged, judge
from ops.results.detection_metrics import WITH_STALENESS, read_detection_metrics
from ops.results.gates.file import GATE, read_gate
from ops.results.history import HISTORY, read_history
from ops.results.inventory import Inventory, take_inventory
from ops.results.metrics_file import METRICS, Measured, read_metrics, runs_used
from ops.results.parity_file import PARITY, read_parity
from ops.results.real import SCHEMA as REAL_LABELS
from ops.results.real import real_labels
from ops.results.reference import REFERENCE, read_reference
from ops.results.sealed_files import (
    FOLDERS,
    PROTOCOL,
    SealedFiles,
    Sources,
    parquet_bytes,
    prediction_files,
)
from ops.results.sql_text import quoted
from ops.results.status import status_rows
from ops.results.upgraded_files import local_folder
from ops.results.video_tables import MINED_FILES, empty_mined, mined, reviews, view_of
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
    "pmk_offsets",
    "pmk_frames",
    "pmk_sets",
    "calibration",
    "effective_robustness",
)
MACROS = (
    "disagreements",
    "flipped_classes",
    "error_consistency",
    "relative_robustness",
    "pmk_at",
)
TABLES = (
    "runs",
    "datasets",
    "models",
    "sources",
    "real_labels",
    "class_lists",
    "metrics",
    "history",
    "status",
    "parity",
    "gate",
    "reference_results",
    *MINED_FILES,
    "review_events",
    "reviewed_frames",
    "detection_metrics",
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
_METRICS = METRICS.append(pa.field("stale", pa.bool_())).append(
    # Whether the model was fine-tuned on videos of the set it is scored on.
    pa.field("seen_in_training", pa.bool_())
)

# Of this machine's memory, and of the free space of its scratch disk.
MEMORY_LIMIT = "60%"
_DISK_SHARE = 0.5


def connect(
    root: Root | str,
    *,
    catalog: catalogs.Catalog | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a read-only DuckDB connection over the sealed results of a root.

    Parameters
    ----------
    root : Root or str
        Local or ``s3://``; remote files are fetched as they are first read.
    catalog : Catalog, optional
        For the view ``status``; the default is ``ops.catalog.load()``.
    memory_limit : str, optional
        DuckDB's limit, for example ``"4GB"``; 60 % of the machine's memory by default. Beyond it,
        DuckDB spills to scratch, where it takes at most half of what is free.
    threads : int, optional
        Of DuckDB; as many as there are cores by default.

    Returns
    -------
    duckdb.DuckDBPyConnection
        With the views and tables named in ``VIEWS`` and ``TABLES``, and the table macros of
        ``MACROS``: a snapshot of the runs that are sealed now. A table is worked out when it is
        first asked for.

    Notes
    -----
    What is guaranteed is enforced by DuckDB, not by a check of the text: no statement changes
    anything that is stored, below the root or elsewhere, or reads a file that is none of the
    sealed ones; the configuration is locked. Two things a statement can do: make temporary tables
    of the session, and read and write files in this connection's own spill folder below
    scratch, to which DuckDB always allows access. :func:`ops.results.query` refuses both.
    """
    root = open_root(root)
    return open_views(root, take_inventory(root), catalog, memory_limit, threads)


def open_views(
    root: Root,
    inventory: Inventory,
    catalog: catalogs.Catalog | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    judged: Judged | None = None,
) -> duckdb.DuckDBPyConnection:
    """As :func:`connect`, over an inventory already taken; of `judged`, no other runs are held."""
    import duckdb

    content = Content(root, inventory, catalog, judged)
    # An in-memory database cannot be read-only. The file is gone once it is open.
    with tempfile.TemporaryDirectory(prefix="shiftlake-views-") as folder:
        path = Path(folder) / "results.duckdb"
        path.write_bytes(_views())
        connection = duckdb.connect(str(path), read_only=True)
    _attach(connection, _files(content.predictions, content.tables()))
    scratch = local_folder(root)
    # Two connections must not spill into the same files.
    spill = scratch / f"duckdb-{uuid.uuid4().hex[:12]}"
    free = shutil.disk_usage(scratch).free
    for setting in (
        f"temp_directory = {quoted(str(spill))}",
        f"max_temp_directory_size = '{int(free * _DISK_SHARE)}B'",
        f"memory_limit = {quoted(memory_limit or MEMORY_LIMIT)}",
        *([] if threads is None else [f"threads = {int(threads)}"]),
        # A statement that takes long is no reason to write onto somebody's screen.
        "enable_progress_bar = false",
        # A name that is no view must be an error, not a variable of some Python frame.
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_directories = {[f'{PROTOCOL}://{name}/' for name in FOLDERS]}",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


@cache
def _views() -> bytes:
    """A DuckDB file with every view, which are the same for all roots, and no row."""
    import duckdb

    content = Content(Root("."), Inventory((), {}, {}, {}, {}, {}, []))
    with tempfile.TemporaryDirectory(prefix="shiftlake-views-") as folder:
        path = Path(folder) / "results.duckdb"
        with duckdb.connect(str(path)) as database:
            # Views only need the columns; nothing is worked out for them.
            _attach(database, _files(dict, content.empty()))
            for name in TABLES:
                database.execute(
                    view_of(name)
                    if name in MINED_FILES
                    else f"CREATE VIEW {name} AS "
                    f"FROM read_parquet('{PROTOCOL}://tables/{name}.parquet')"
                )
            for name in (*VIEWS, *MACROS):
                database.execute(_sql(name))
        return path.read_bytes()


class Content:
    """What the tables hold, each worked out when it is first asked for.

    Parameters
    ----------
    root : Root
    inventory : Inventory
    catalog : Catalog, optional
    judged : Judged, optional
        Some of the inventory's runs; all of them by default.
    """

    def __init__(
        self,
        root: Root,
        inventory: Inventory,
        catalog: catalogs.Catalog | None = None,
        judged: Judged | None = None,
    ) -> None:
        self._root, self._inventory, self._catalog = root, inventory, catalog
        if judged is not None:
            self.judged = judged

    @cached_property
    def judged(self) -> Judged:
        """The runs with their standing."""
        return judge(self._inventory)

    def predictions(self) -> Sources:
        """The files of predictions."""
        return prediction_files(self._root, self.judged)

    def empty(self) -> Sources:
        """Every table without a row."""
        own = {
            name: partial(parquet_bytes, schema.empty_table())
            for name, (schema, _) in self._tables.items()
        }
        return own | dict(empty_mined())

    def tables(self) -> Sources:
        """Every table."""
        own = {name: partial(_written, *each) for name, each in self._tables.items()}
        return own | dict(mined(self._root, self._inventory))

    @property
    def _tables(self) -> dict[str, tuple[pa.Schema, Callable[[], pa.Table]]]:
        root, inventory = self._root, self._inventory
        return {
            "runs": (tables.RUNS, lambda: tables.runs_table(self.judged)),
            "datasets": (tables.DATASETS, lambda: tables.datasets_table(inventory)),
            "models": (tables.MODELS, lambda: tables.models_table(inventory)),
            "sources": (tables.SOURCES, lambda: tables.sources_table(inventory)),
            "class_lists": (tables.CLASS_LISTS, tables.class_lists_table),
            "real_labels": (REAL_LABELS, lambda: real_labels(root)),
            "metrics": (
                _METRICS,
                lambda: _with_seen(
                    _with_staleness(self._measured.table, self.judged), inventory.models
                ),
            ),
            "history": (HISTORY, lambda: read_history(root, self._measured.table)),
            "status": (_STATUS, self._status),
            "parity": (PARITY, lambda: read_parity(root)),
            "gate": (GATE, lambda: read_gate(root)),
            "reference_results": (REFERENCE, lambda: read_reference(root)),
            **reviews(root),
            "detection_metrics": (WITH_STALENESS, lambda: read_detection_metrics(root)),
        }

    @cached_property
    def _measured(self) -> Measured:
        return read_metrics(self._root)

    def _status(self) -> pa.Table:
        rows = status_rows(
            self._inventory, self.judged, self._catalog or catalogs.load(), self._measured
        )
        return pa.Table.from_pylist([vars(row) for row in rows], schema=_STATUS)


def _with_staleness(metrics: pa.Table, judged: Judged) -> pa.Table:
    """The table of metrics, and whether any run behind a row is no longer current or fresh."""
    # Thousands of rows are made from the same runs: each set of runs is looked at once.
    kinds = pc.binary_join_element_wise(metrics["inputs"], metrics["variant"], " ")
    codes = kinds.combine_chunks().dictionary_encode().indices.to_numpy()
    _, first, kind = np.unique(codes, return_index=True, return_inverse=True)
    stale = [not judged.fresh.issuperset(used) for used in runs_used(metrics.take(first))]
    return metrics.append_column("stale", pa.array(np.array(stale, bool)[kind]))


def _with_seen(metrics: pa.Table, models: Mapping[str, dict[str, Any]]) -> pa.Table:
    """The table of metrics, and whether a row is of videos that its model was fine-tuned on."""
    datasets = pc.binary_join_element_wise(metrics["benchmark"], metrics["condition"], "/")
    known = datasets.unique().to_pylist()
    seen = np.zeros(metrics.num_rows, bool)
    for model, entry in models.items():
        if own := seen_in_training(entry.get("fine_tuned_on") or (), known):
            of_model = pc.equal(metrics["model"], model).to_numpy()
            seen |= of_model & pc.is_in(datasets, value_set=pa.array(own)).to_numpy()
    return metrics.append_column("seen_in_training", pa.array(seen))


def _written(schema: pa.Schema, table: Callable[[], pa.Table]) -> bytes:
    return parquet_bytes(table().cast(schema))


def _files(predictions: Callable[[], Sources], content: Sources) -> SealedFiles:
    held = SealedFiles()
    held.hold(predictions, content)
    return held


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
    connection.create_function(
        "mcnemar", _mcnemar, ["BIGINT", "BIGINT"], "DOUBLE", type=PythonUDFType.ARROW
    )
    connection.create_function(
        "error_kappa",
        _error_kappa,
        ["BIGINT", "BIGINT", "BIGINT", "BIGINT"],
        "STRUCT(observed DOUBLE, expected DOUBLE, kappa DOUBLE, lo DOUBLE, hi DOUBLE, "
        "kappa_over_max DOUBLE)",
        type=PythonUDFType.ARROW,
    )
    connection.create_function(
        "paired_difference",
        _paired_difference,
        ["BIGINT", "BIGINT", "BIGINT"],
        "STRUCT(lo DOUBLE, hi DOUBLE)",
        type=PythonUDFType.ARROW,
    )


def _clopper_pearson(k: Any, n: Any) -> Any:
    # DuckDB evaluates the annotations, and Arrow's own types take no parameters at run time.
    lo, hi = clopper_pearson(np.asarray(k), np.asarray(n))
    return pa.StructArray.from_arrays([pa.array(lo), pa.array(hi)], ["lo", "hi"])


def _mcnemar(lost: Any, gained: Any) -> Any:
    return pa.array(mcnemar(np.asarray(lost), np.asarray(gained)))


def _error_kappa(both_right: Any, only_a: Any, only_b: Any, both_wrong: Any) -> Any:
    found = vars(
        error_consistency(
            np.asarray(both_right), np.asarray(only_a), np.asarray(only_b), np.asarray(both_wrong)
        )
    )
    # Where nothing can be told SQL has NULL.
    arrays = [pa.array(values, from_pandas=True) for values in found.values()]
    return pa.StructArray.from_arrays(arrays, list(found))


def _paired_difference(lost: Any, gained: Any, n: Any) -> Any:
    lo, hi = paired_difference(np.asarray(lost), np.asarray(gained), np.asarray(n))
    return pa.StructArray.from_arrays([pa.array(lo), pa.array(hi)], ["lo", "hi"])


def _sql(name: str) -> str:
    return files("ops.results").joinpath(f"sql/{name}.sql").read_text("utf-8")
