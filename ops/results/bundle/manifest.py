"""``manifest.json`` of a bundle of results: what is in the folder, and which names it may hold."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ops.errors import ShiftlakeError
from ops.storage import Root

MANIFEST = "manifest.json"
# Stands in the folder from before the first file of a bundle until after its manifest.
UNFINISHED = "unfinished.json"
DATABASE = "results.duckdb"
# DuckDB puts a random number into every file it makes, so its hash stands beside it and not in the
# manifest, which is the same for the same results.
DATABASE_HASH = f"{DATABASE}.sha256"
REPORT = "report.html"
GATES = "gates.yaml"

_PART = r"[A-Za-z0-9][A-Za-z0-9._+@=-]*"
_ALLOWED = re.compile(
    rf"tables/{_PART}\.parquet|models/{_PART}\.json|predictions/{_PART}(/{_PART}){{3,6}}"
    rf"|{re.escape(REPORT)}|{re.escape(GATES)}"
)


class BundleFile(BaseModel):
    """One file of a bundle."""

    model_config = ConfigDict(frozen=True)

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int


class BundleManifest(BaseModel):
    """What a bundle holds.

    Attributes
    ----------
    format, format_version
        Which kind of document this is.
    definitions, code_version, schema_version : str
        Of the metrics, of the evaluation and of the rows' columns.
    written_with : dict
        Libraries and their versions.
    rows : bool
        Whether the predictions are in it.
    synthetic : bool
        Whether any run is of synthetic images or models.
    models, datasets, runs, gates : list of dict
        Registry entries; datasets that the runs are on; records of the current runs; verdicts.
    tables : dict
        Rows of each table.
    files : dict
        Path in the bundle to size and hash, of every file but the manifest, the database and the
        database's hash.
    """

    model_config = ConfigDict(frozen=True)

    # Without defaults: many a manifest.json is none of ours.
    format: Literal["shiftlake results"]
    format_version: Literal[1]
    definitions: str
    code_version: str
    schema_version: str
    written_with: dict[str, str]
    rows: bool
    synthetic: bool
    models: list[dict[str, Any]]
    datasets: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    gates: list[dict[str, Any]]
    tables: dict[str, int]
    files: dict[str, BundleFile]


class Unfinished(BaseModel):
    """Every path that an export has begun to remove or to write."""

    model_config = ConfigDict(frozen=True)

    format: Literal["unfinished shiftlake results"]
    files: tuple[str, ...]


def read_manifest(bundle: Root) -> BundleManifest:
    """The manifest of a bundle, with every name in it checked; see :func:`manifest_of`."""
    return manifest_of(bundle, bundle.read_bytes(MANIFEST) if bundle.exists(MANIFEST) else None)


def manifest_of(bundle: Root, content: bytes | None) -> BundleManifest:
    """As :func:`read_manifest`, of the manifest's bytes; None where there is no manifest.

    Raises
    ------
    ShiftlakeError
        If there is none, it is not of this format, or it names a path that is no bundle's.
    """
    if content is None:
        raise ShiftlakeError(
            "This is no bundle of results.",
            expected=f"a folder with a {MANIFEST}, as shiftlake bundle writes it",
            found="no manifest",
            where=bundle.url,
            remedy="check the folder; a bundle without manifest was not finished",
        )
    try:
        manifest = BundleManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise ShiftlakeError(
            "The manifest of the bundle cannot be read.",
            expected="a manifest of format version 1",
            found=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=bundle.at(MANIFEST),
            remedy="use the release of Shiftlake that wrote it, or ask for the bundle again",
        ) from error
    for path in manifest.files:
        check_path(path, bundle)
    return manifest


def check_path(path: str, bundle: Root) -> None:
    """Refuse a path that leaves the bundle, or is none that a bundle has.

    Raises
    ------
    ShiftlakeError
    """
    parts = PurePosixPath(path).parts
    if _ALLOWED.fullmatch(path) is None or ".." in parts or "/".join(parts) != path:
        raise _foreign("a path that a bundle has", path, bundle)
    if bundle.is_local and _through_link(Path(bundle.url), parts):
        raise _foreign("a file of its own", f"{path}, through a symbolic link", bundle)


def _through_link(folder: Path, parts: tuple[str, ...]) -> bool:
    steps = [folder.joinpath(*parts[: i + 1]) for i in range(len(parts))]
    return any(step.is_symlink() for step in steps)


def _foreign(expected: str, found: str, bundle: Root) -> ShiftlakeError:
    return ShiftlakeError(
        "The bundle names a file that it must not hold.",
        expected=expected,
        found=found,
        where=bundle.at(MANIFEST),
        remedy="do not import this bundle; ask whoever made it",
    )


def damaged(expected: str, found: str, bundle: Root) -> ShiftlakeError:
    """The error of a bundle whose files are not what they are said to be."""
    return ShiftlakeError(
        "The bundle is not what its manifest says; nothing was imported.",
        expected=expected,
        found=found,
        where=bundle.url,
        remedy="get the bundle again",
    )
