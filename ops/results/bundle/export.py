"""A portable bundle of results: a DuckDB file, Parquet, a manifest and the report.

Whoever gets the folder needs nothing of this project: ``results.duckdb`` opens in plain DuckDB,
and every table is a Parquet file beside it. :mod:`ops.results.bundle.importing` takes it back in.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ops import catalog as catalogs
from ops.errors import ShiftlakeError
from ops.results.bundle.folder import check_folder, clear
from ops.results.bundle.manifest import (
    DATABASE,
    DATABASE_HASH,
    GATES,
    MANIFEST,
    REPORT,
    UNFINISHED,
    BundleFile,
    BundleManifest,
)
from ops.results.bundle.written_tables import write_database, write_tables
from ops.results.connection import open_views
from ops.results.currency import standings
from ops.results.detection_metrics import read_detection_metrics
from ops.results.inventory import Inventory, Run, take_inventory
from ops.results.measures.unit import DEFINITIONS
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    import duckdb

_PIECE = 8 << 20


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
        New, empty, an older bundle, which is replaced, or one that was not finished. Local or
        ``s3://``, and outside the storage root. Files that belong to no bundle stay.
    models : sequence of str
        Names or patterns of models and detectors; all by default. Results published elsewhere are
        always in it.
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
        If a pattern fits no model, the folder lies in the root or holds something else, or a
        stored file is not what its record says.

    Notes
    -----
    The same results give the same Parquet files and the same manifest, byte for byte.
    """
    root, bundle = open_root(root), open_root(folder)
    check_folder(root, bundle)
    inventory = take_inventory(root)
    detectors = read_detection_metrics(root)["model"].to_pylist()
    known = {*inventory.models, *(run.model for run in inventory.runs), *detectors}
    chosen = _chosen(known, models)
    judged = [s for s in standings(inventory) if s.current and s.run.model in chosen]
    with tempfile.TemporaryDirectory(prefix="shiftlake-bundle-") as scratch:
        staged = Path(scratch)
        with open_views(root, inventory, catalog) as lake:
            counts = write_tables(lake, staged / "tables", chosen, rows)
            gates = _verdicts(lake, chosen)
            datasets = _datasets(lake, [s.run for s in judged])
        write_database(staged / DATABASE, counts, rows)
        entries = _entries(inventory, chosen)
        manifest = {
            "format": "shiftlake results",
            "format_version": 1,
            **_versions(),
            "rows": rows,
            "synthetic": any(s.run.synthetic for s in judged),
            "models": list(entries.values()),
            "datasets": datasets,
            "runs": [root.read_json(f"{s.run.folder}/run.json") for s in judged],
            "gates": gates,
            "tables": counts,
        }
        runs = [s.run for s in judged] if rows else []
        of_runs = {run.model for run in runs}
        (staged / "models").mkdir()
        for name, entry in entries.items():
            if name in of_runs:
                open_root(staged).write_json(paths.model(name), entry, durable=False)
        written = _publish(root, bundle, staged, runs, progress)
    sealed = BundleManifest.model_validate(manifest | {"files": written})
    bundle.write_json(MANIFEST, sealed.model_dump(mode="json"))
    bundle.remove(UNFINISHED)
    total = sum(file.bytes for file in written.values()) + (bundle.size(DATABASE) or 0)
    return Bundle(bundle.url, tuple(chosen), len(judged), len(counts), len(written), total)


def _chosen(names: set[str], patterns: Sequence[str]) -> list[str]:
    known = sorted(names)
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


def _entries(inventory: Inventory, names: list[str]) -> dict[str, dict[str, Any]]:
    """The models' entries; a folder that one was found in is nobody else's business."""
    return {
        name: inventory.models[name] | {"origin": None}
        for name in names
        if name in inventory.models
    }


def _verdicts(lake: duckdb.DuckDBPyConnection, models: list[str]) -> list[dict[str, Any]]:
    rows = lake.sql(
        "SELECT gate, candidate, baseline, benchmark, condition, metric, variant, verdict "
        "FROM gate WHERE list_contains($models, candidate) ORDER BY ALL",
        params={"models": models},
    )
    found: list[dict[str, Any]] = rows.to_arrow_table().to_pylist()
    return found


def _datasets(lake: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[dict[str, Any]]:
    """Name and version of every dataset that a run is on, with what its manifest says, if here."""
    known = {
        row["dataset"]: row
        for row in lake.sql("SELECT dataset, version, n_samples, licence, synthetic FROM datasets")
        .to_arrow_table()
        .to_pylist()
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
    made = open_root(staged)
    staged_files = [*made.list("models"), *made.list("tables")]
    stored: dict[str, str] = {}
    for run in runs:
        names = ["run.json", *(file.name for file in run.files)]
        stored |= {f"{run.folder}/{name}": f"{run.folder}/{name}" for name in names}
    stored |= {REPORT: paths.results(REPORT), GATES: paths.gates()}
    stored = {to: source for to, source in stored.items() if root.exists(source)}
    expected = {f"{run.folder}/{file.name}": file.sha256 for run in runs for file in run.files}
    total = len(staged_files) + len(stored) + 1
    clear(bundle, [*staged_files, *stored])
    written: dict[str, BundleFile] = {}
    for path in staged_files:
        with made.open(path) as file:
            written[path] = _copy(file, bundle, path)
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
    with made.open(DATABASE) as file:
        database = _copy(file, bundle, DATABASE)
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
