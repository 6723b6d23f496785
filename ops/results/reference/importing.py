"""Results that others published: from the fetched files to one tidy table.

A benchmark of the catalog whose id begins with ``reference-`` holds result files and no images.
What a file says is told by its layout (:mod:`ops.results.reference.layouts`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import pyarrow as pa

from ops.catalog import Catalog, SourceFile
from ops.errors import ShiftlakeError
from ops.fetch import Receipt, standing
from ops.results.reference.file import REFERENCE, write_reference
from ops.results.reference.layouts import Published, rows_of
from ops.storage import Root, open_root

PREFIX = "reference-"
_ORDER = ("source", "setting", "model", "image_size", "metric")


def reference_files(catalog: Catalog) -> list[SourceFile]:
    """The published result files of the catalog, in its order."""
    return [file for file in catalog.source_files() if file.benchmark.startswith(PREFIX)]


def import_references(root: Root | str, catalog: Catalog) -> pa.Table:
    """Read every result file that was fetched, and store them as the table ``reference_results``.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog

    Returns
    -------
    pyarrow.Table
        Schema ``REFERENCE``, sorted by source, setting, model,
        image size and metric. The same files give the same bytes. Files that were not fetched are
        left out.

    Raises
    ------
    ShiftlakeError
        If a file cannot be read as what it is said to be; the stored table then stays as it was.
    """
    root = open_root(root)
    fetched: dict[str, list[tuple[SourceFile, Receipt]]] = {}
    for file in reference_files(catalog):
        if (receipt := standing(root, file)) is not None:
            fetched.setdefault(file.benchmark, []).append((file, receipt))
    rows = []
    for benchmark, found in fetched.items():
        revision = _revision(catalog.benchmark(benchmark).pinned_revision.value, found)
        rows += [row for file, _ in found for row in _rows(root, file, revision)]
    rows.sort(key=lambda row: [str(row.get(name)) for name in _ORDER])
    _check_names(rows)
    table = pa.Table.from_pylist(
        [{name: row.get(name) for name in REFERENCE.names} for row in rows], schema=REFERENCE
    )
    write_reference(root, table)
    return table


def _rows(root: Root, file: SourceFile, revision: str) -> list[dict[str, Any]]:
    where = root.at(file.path)
    try:
        # Written by spreadsheets, some files begin with a mark of their encoding.
        text = root.read_bytes(file.path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ShiftlakeError(
            "A file of published results cannot be read.",
            expected="UTF-8 text",
            found=str(error),
            where=where,
            remedy="fetch it again",
        ) from error
    common = {
        "source": file.benchmark.removeprefix(PREFIX).replace("-", "_"),
        "revision": revision,
        "synthetic": file.synthetic,
    }
    return [common | row for row in rows_of(Published(file.benchmark, file.id, text, where))]


def _revision(pinned: str | None, found: list[tuple[SourceFile, Receipt]]) -> str:
    """One of a whole source, whose files are set against each other, wherever each came from."""
    if pinned and not any(file.synthetic for file, _ in found):
        return pinned
    hashes = " ".join(sorted(receipt.sha256 for _, receipt in found))
    return f"sha256 {hashlib.sha256(hashes.encode()).hexdigest()[:12]}"


def _check_names(rows: list[dict[str, Any]]) -> None:
    """Two settings of one source under one name here would be counted as one quantity."""
    names = ("source", "model", "image_size", "benchmark", "condition", "metric", "variant")
    seen: dict[tuple[Any, ...], str] = {}
    for row in rows:
        if row.get("benchmark") is None:
            continue
        key = tuple(row.get(name) for name in names)
        if seen.setdefault(key, row["setting"]) != row["setting"]:
            raise ShiftlakeError(
                "Two published settings have the same name here.",
                expected="one value of a model, benchmark, condition, metric and variant",
                found=f"{seen[key]} and {row['setting']}",
                where=f"{row['source']}, {row['model']}",
                remedy="leave one of the files out of the overlay",
            )
