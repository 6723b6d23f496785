"""A portable bundle of results: a DuckDB file, Parquet, a manifest and the report.

Whoever gets the folder needs nothing of this project: ``results.duckdb`` opens in plain DuckDB,
and every table is a Parquet file beside it. :mod:`ops.results.bundle_import` takes it back in.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ops import catalog as catalogs
from ops.errors import ShiftlakeError
from ops.results.bundle_manifest import (
    DATABASE,
    DATABASE_HASH,
    GATES,
    MANIFEST,
    REPORT,
    BundleFile,
    BundleManifest,
)
from ops.results.connection import MACROS, TABLES, VIEWS, open_views
from ops.results.currency import standings
from ops.results.inventory import Inventory, Run, take_inventory
from ops.results.measures.unit import DEFINITIONS
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    import duckdb

# Made of the rows, one row a sequence: with the rows, or not at all.
_OF_ROWS = ("predictions", "flips")
_PIECE = 8 << 20
_ROWS_A_GROUP = 1 << 17


@dataclass(frozen=True)
class Bundle:
    """What was written: the folder, and how much of what is in it."""

    folder: str
    models: tuple[str, ...]
    runs: int
    tables: int
    files: int
    bytes: int


def export_results(
    root: Root | str,
    catalog: catalogs.Catalog,
    folder: str | Path,
    *,
    models: Sequence[str] = (),
    rows: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Bundle:
    """Write the results of a root as a folder that explains itself.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    folder : str or Path
        New, empty or an older bundle, which is replaced. Local or ``s3://``.
    models : sequence of str
        Names or patterns; all models by default. Results published elsewhere are always in it.
    rows : bool
        Whether to add the predictions of the current runs, as they are stored. Without them the
        bundle cannot be imported again. Logits are never in it.
    progress : callable, optional
        Called with files done and files in all.

    Returns
    -------
    Bundle

    Raises
    ------
    ShiftlakeError
        If a pattern fits no model, the folder holds something else, or a stored file is not what
        its record says.

    Notes
    -----
    The same results give the same Parquet files and the same manifest, byte for byte.
    """
    root, bundle = open_root(root), open_root(folder)
    inventory = take_inventory(root)
    chosen = _chosen(inventory, models)
    judged = [s for s in standings(inventory) if s.current and s.run.model in chosen]
    _clear(bundle)
    with tempfile.TemporaryDirectory(prefix="shiftlake-bundle-") as scratch:
        staged = Path(scratch)
        with open_views(root, inventory, catalog) as lake:
            counts = _write_tables(lake, staged / "tables", chosen, rows)
            gates = _verdicts(lake, chosen)
            datasets = _datasets(lake, [s.run for s in judged])
        _write_database(staged, counts, rows)
        manifest = {
            **_versions(),
            "rows": rows,
            "synthetic": any(s.run.synthetic for s in judged),
            "models": [inventory.models[name] for name in chosen if name in inventory.models],
            "datasets": datasets,
            "runs": [root.read_json(f"{s.run.folder}/run.json") for s in judged],
            "gates": gates,
            "tables": counts,
        }
        written = _publish(root, bundle, staged, [s.run for s in judged] if rows else [], progress)
    sealed = BundleManifest.model_validate(manifest | {"files": written})
    bundle.write_json(MANIFEST, sealed.model_dump(mode="json"))
    total = sum(file.bytes for file in written.values()) + (bundle.size(DATABASE) or 0)
    return Bundle(bundle.url, tuple(chosen), len(judged), len(counts), len(written), total)


def _chosen(inventory: Inventory, patterns: Sequence[str]) -> list[str]:
    known = sorted({*inventory.models, *(run.model for run in inventory.runs)})
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ShiftlakeError(
                "No model has this name.",
                expected=f"one of {', '.join(known[:8])}" if known else "a registered model",
                found=pattern,
                where="the bundle",
                remedy="shiftlake model list",
            )
    return [n for n in known if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def _clear(bundle: Root) -> None:
    """Make room for a bundle, by removing nothing but a bundle."""
    there = bundle.list("")
    if not there:
        return
    if MANIFEST not in there and DATABASE not in there:
        raise ShiftlakeError(
            "The folder for the bundle holds other files.",
            expected="a new or empty folder, or an older bundle",
            found=", ".join(there[:3]) + (" …" if len(there) > 3 else ""),
            where=bundle.url,
            remedy="choose another folder",
        )
    # First, so that what is left of the old one is no bundle.
    bundle.remove(MANIFEST)
    tops = ("tables", "models", "predictions")
    own = {DATABASE, DATABASE_HASH, REPORT, GATES}
    for path in there:
        if path in own or path.partition("/")[0] in tops:
            bundle.remove(path)


def _write_tables(
    lake: duckdb.DuckDBPyConnection, folder: Path, models: list[str], rows: bool
) -> dict[str, int]:
    folder.mkdir()
    counts = {}
    for name in sorted({*TABLES, *VIEWS} - {"predictions"}):
        if name in _OF_ROWS and not rows:
            continue
        columns = [row[0] for row in lake.execute(f"DESCRIBE {name}").fetchall()]
        # ORDER BY ALL: the order of rows in a view is nobody's promise.
        query = f"SELECT * FROM {name} {_filter(name, columns)} ORDER BY ALL"
        table = _arrow(lake, query, models if "$models" in query else None)
        _write_parquet(table, folder / f"{name}.parquet")
        counts[name] = table.num_rows
    if rows:
        from ops.inference.schema import PREDICTIONS

        _write_parquet(PREDICTIONS.empty_table(), folder / "no_predictions.parquet")
    return counts


def _filter(name: str, columns: list[str]) -> str:
    if name == "effective_robustness":
        return "WHERE origin <> 'lake' OR list_contains($models, model)"
    if name == "gate":
        return "WHERE list_contains($models, candidate) OR list_contains($models, baseline)"
    if name == "reference_results" or "model" not in columns:
        return ""
    return "WHERE coalesce(model, '') = '' OR list_contains($models, model)"


def _arrow(
    lake: duckdb.DuckDBPyConnection, query: str, models: list[str] | None = None
) -> pa.Table:
    return lake.sql(query, params=None if models is None else {"models": models}).to_arrow_table()


def _write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd", row_group_size=_ROWS_A_GROUP)


def _write_database(staged: Path, tables: dict[str, int], rows: bool) -> None:
    import duckdb

    with duckdb.connect(str(staged / DATABASE)) as database:
        # Views are bound as they are made, and name files by their path in the bundle.
        database.execute(f"SET file_search_path = '{_quoted(str(staged))}'")
        for name in tables:
            database.execute(f"CREATE TABLE {name} AS FROM 'tables/{name}.parquet'")
        if rows:
            # A pattern has to fit a file; this one stays behind.
            stand_in = staged / "predictions" / "none.parquet"
            stand_in.parent.mkdir()
            stand_in.write_bytes((staged / "tables" / "no_predictions.parquet").read_bytes())
            database.execute(_sql("bundle_predictions"))
        for name in MACROS:
            if rows or "predictions" not in _sql(name):
                database.execute(_sql(name))


def _verdicts(lake: duckdb.DuckDBPyConnection, models: list[str]) -> list[dict[str, Any]]:
    rows = _arrow(
        lake,
        "SELECT gate, candidate, baseline, benchmark, condition, metric, variant, verdict "
        "FROM gate WHERE list_contains($models, candidate) ORDER BY ALL",
        models,
    )
    found: list[dict[str, Any]] = rows.to_pylist()
    return found


def _datasets(lake: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[dict[str, Any]]:
    """Name and version of every dataset that a run is on, with what its manifest says, if here."""
    known = {
        row["dataset"]: row
        for row in _arrow(
            lake, "SELECT dataset, version, n_samples, licence, synthetic FROM datasets"
        ).to_pylist()
    }
    found = []
    for dataset, version_of_run in sorted({(run.dataset, run.dataset_version) for run in runs}):
        here = known.get(dataset)
        same = here is not None and here["version"] == version_of_run
        found.append(here if here and same else {"dataset": dataset, "version": version_of_run})
    return found


def _versions() -> dict[str, Any]:
    # These bring torch.
    from ops.inference.plan import CODE_VERSION
    from ops.inference.schema import SCHEMA_VERSION

    libraries = ("shiftlake", "duckdb", "pyarrow", "numpy")
    return {
        "definitions": DEFINITIONS,
        "code_version": CODE_VERSION,
        "schema_version": SCHEMA_VERSION,
        "written_with": {name: version(name) for name in libraries},
    }


def _publish(
    root: Root,
    bundle: Root,
    staged: Path,
    runs: list[Run],
    progress: Callable[[int, int], None] | None,
) -> dict[str, BundleFile]:
    """Bring every file into the bundle, hashed on the way; the database is not among the result."""
    staged_tables = sorted((staged / "tables").iterdir())
    stored = {paths.model(run.model): paths.model(run.model) for run in runs}
    for run in runs:
        names = ["run.json", *(file.name for file in run.files)]
        stored |= {f"{run.folder}/{name}": f"{run.folder}/{name}" for name in names}
    stored |= {REPORT: paths.results(REPORT), GATES: paths.gates()}
    stored = {to: source for to, source in stored.items() if root.exists(source)}
    expected = {f"{run.folder}/{file.name}": file.sha256 for run in runs for file in run.files}
    total = len(staged_tables) + len(stored) + 1
    written: dict[str, BundleFile] = {}
    for path in staged_tables:
        with path.open("rb") as table:
            written[f"tables/{path.name}"] = _copy(table, bundle, f"tables/{path.name}")
        if progress:
            progress(len(written), total)
    for to, stored_at in sorted(stored.items()):
        with root.open(stored_at) as source:
            written[to] = _copy(source, bundle, to)
        if expected.get(to) and written[to].sha256 != expected[to]:
            raise ShiftlakeError(
                "A stored file is not what its record says.",
                expected=f"sha256 {expected[to]}",
                found=f"sha256 {written[to].sha256}",
                where=root.at(stored_at),
                remedy="remove the file and evaluate again: whole shards are kept",
            )
        if progress:
            progress(len(written), total)
    with (staged / DATABASE).open("rb") as made:
        database = _copy(made, bundle, DATABASE)
    bundle.write_bytes(DATABASE_HASH, f"{database.sha256}  {DATABASE}\n".encode())
    if progress:
        progress(total, total)
    return written


def _copy(source: BinaryIO, bundle: Root, path: str) -> BundleFile:
    digest, size = hashlib.sha256(), 0
    with bundle.writer(path, durable=False) as target:
        while piece := source.read(_PIECE):
            digest.update(piece)
            size += len(piece)
            target.write(piece)
    return BundleFile(sha256=digest.hexdigest(), bytes=size)


def _sql(name: str) -> str:
    return files("ops.results").joinpath(f"sql/{name}.sql").read_text("utf-8")


def _quoted(text: str) -> str:
    return text.replace("'", "''")
