"""Taking a bundle's runs into another root, where they are runs like any other.

Everything is checked before anything is written: the hash of every file, the names, the records,
and that nothing that stands here would be replaced by something else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.results.bundle_manifest import (
    DATABASE,
    DATABASE_HASH,
    MANIFEST,
    BundleManifest,
    check_path,
    read_manifest,
)
from ops.storage import Root, open_root, paths

_PIECE = 8 << 20
NO_WEIGHTS = "imported with its results: the weights are not here"


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Attributes
    ----------
    runs : tuple of str
        ``<model>/<dataset>`` of every run that was taken in.
    already_here : tuple of str
        Of those that stood here with the same rows.
    models : tuple of str
        Names of the models that were registered; their weights are not here.
    """

    runs: tuple[str, ...]
    already_here: tuple[str, ...]
    models: tuple[str, ...]


def import_results(
    root: Root | str,
    folder: str | Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Take the runs of a bundle, with their records and their models' entries, into a root.

    Parameters
    ----------
    root : Root or str
    folder : str or Path
        The bundle, local or ``s3://``.
    progress : callable, optional
        Called with files done and files in all.

    Returns
    -------
    Imported

    Raises
    ------
    ShiftlakeError
        If a file is missing, changed or not in the manifest; a name leaves the bundle; a record
        and its place or files disagree; or a run or model of the same name here is another one.
        Nothing is imported then.

    Notes
    -----
    A run of a dataset that is not built here is seen as stale until it is: its version cannot be
    compared. The weights of a model are never in a bundle.
    """
    root, bundle = open_root(root), open_root(folder)
    manifest = read_manifest(bundle)
    if not manifest.rows:
        raise ShiftlakeError(
            "The bundle has no rows to import.",
            expected="a bundle with predictions",
            found="tables alone",
            where=bundle.url,
            remedy="open its results.duckdb, or ask for a bundle that was made with --rows",
        )
    _check_files(bundle, manifest)
    models = {
        path.removeprefix("models/").removesuffix(".json"): _read_model(bundle, path)
        for path in manifest.files
        if path.startswith("models/")
    }
    records = {
        path.rpartition("/")[0]: _read_record(bundle, path, manifest)
        for path in sorted(manifest.files)
        if path.startswith("predictions/") and path.endswith("/run.json")
    }
    _check_no_stray(manifest, records, bundle)
    new_models = _new_models(root, models)
    known = {place for place, record in records.items() if _stands(root, place, record)}
    new = [place for place in records if place not in known]
    copied, total = 0, len(new) + sum(len(records[place]["files"]) for place in new)
    for place in new:
        for file in records[place]["files"]:
            _copy(bundle, root, f"{place}/{file['name']}")
            copied += 1
            if progress:
                progress(copied, total)
    for name in new_models:
        root.write_json(paths.model(name), models[name])
    for place in new:
        # The seal, once all it speaks of is there.
        _copy(bundle, root, f"{place}/run.json")
        copied += 1
        if progress:
            progress(copied, total)
    done = Imported(
        tuple(_shown(records[place]) for place in new),
        tuple(_shown(records[place]) for place in records if place in known),
        tuple(new_models),
    )
    _note(root, bundle, done)
    return done


def _check_files(bundle: Root, manifest: BundleManifest) -> None:
    named = {*manifest.files, MANIFEST, DATABASE, DATABASE_HASH}
    if strangers := [path for path in bundle.list("") if path not in named]:
        raise _damaged("only the files that the manifest names", strangers[0], bundle)
    for path, stated in manifest.files.items():
        if bundle.size(path) != stated.bytes:
            size = bundle.size(path)
            found = "no file" if size is None else f"{size:,} bytes"
            raise _damaged(f"{stated.bytes:,} bytes", f"{path}: {found}", bundle)
        if (found := _sha256(bundle, path)) != stated.sha256:
            raise _damaged(f"sha256 {stated.sha256}", f"{path}: sha256 {found}", bundle)
    for path in (DATABASE, DATABASE_HASH):
        check = bundle.exists(path)
        if not check:
            raise _damaged(path, "no such file", bundle)
    expected = bundle.read_bytes(DATABASE_HASH).decode("ascii", "replace").split()[:1]
    if [_sha256(bundle, DATABASE)] != expected:
        raise _damaged(f"sha256 {''.join(expected)}", f"{DATABASE}: another", bundle)


def _sha256(bundle: Root, path: str) -> str:
    digest = hashlib.sha256()
    with bundle.open(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read_model(bundle: Root, path: str) -> dict[str, Any]:
    """A model's entry as it will stand here, marked as one whose weights are elsewhere."""
    # Brings torch.
    from ops.models import ModelEntry

    try:
        entry = ModelEntry.model_validate(bundle.read_json(path))
    except ValidationError as error:
        raise _damaged("a model's entry", f"{path}: {error.errors()[0]['msg']}", bundle) from error
    if paths.model(entry.name) != path:
        raise _damaged(f"the entry of {path}", f"that of {entry.name}", bundle)
    note = (
        entry.note
        if NO_WEIGHTS in entry.note
        else "; ".join(filter(None, [entry.note, NO_WEIGHTS]))
    )
    return entry.model_copy(update={"note": note}).model_dump(mode="json")


def _read_record(bundle: Root, path: str, manifest: BundleManifest) -> dict[str, Any]:
    from ops.inference.record import RunRecord

    try:
        record = RunRecord.model_validate(bundle.read_json(path)).model_dump(mode="json")
    except ValidationError as error:
        raise _damaged("a run's record", f"{path}: {error.errors()[0]['msg']}", bundle) from error
    place = paths.run(record["model"], record["dataset"], record["key"])
    if f"{place}/run.json" != path:
        raise _damaged(f"the record of {path}", f"that of {place}", bundle)
    if record["dataset"] != f"{record['benchmark']}/{record['condition']}":
        raise _damaged("benchmark/condition as the dataset's name", record["dataset"], bundle)
    for file in record["files"]:
        name = f"{place}/{file['name']}"
        check_path(name, bundle)
        stated = manifest.files.get(name)
        if stated is None or "/" in file["name"]:
            raise _damaged("every file of the run", f"none called {name}", bundle)
        if (stated.sha256, stated.bytes) != (file["sha256"], file["bytes"]):
            raise _damaged("the file that the record names", f"another: {name}", bundle)
    return record


def _check_no_stray(
    manifest: BundleManifest, records: dict[str, dict[str, Any]], bundle: Root
) -> None:
    of_runs = {f"{place}/run.json" for place in records}
    for place, record in records.items():
        of_runs |= {f"{place}/{file['name']}" for file in record["files"]}
    for path in manifest.files:
        if path.startswith("predictions/") and path not in of_runs:
            raise _damaged("only files of a sealed run", path, bundle)
    for record in records.values():
        if paths.model(record["model"]) not in manifest.files:
            raise _damaged("the entry of every model", f"none of {record['model']}", bundle)


def _new_models(root: Root, models: dict[str, dict[str, Any]]) -> list[str]:
    new = []
    for name, entry in models.items():
        rel = paths.model(name)
        if not root.exists(rel):
            new.append(name)
            continue
        here = root.read_json(rel)
        differing = [
            key
            for key in {**here, **entry}
            # A note says nothing about results; a field of a newer release is not yet in an
            # older entry.
            if key not in ("note", "parameters") and key in here and here[key] != entry.get(key)
        ]
        if differing:
            raise ShiftlakeError(
                "A model of this name is registered here, and is another one.",
                expected=f"the same {', '.join(sorted(differing))}",
                found="something else",
                where=root.at(rel),
                remedy="register the one here under another name, then import again",
            )
    return sorted(new)


def _stands(root: Root, place: str, record: dict[str, Any]) -> bool:
    """Whether the same run is sealed here; a part of it that stands must be the same, too."""
    hashes = {file["name"]: file["sha256"] for file in record["files"]}
    if root.exists(f"{place}/run.json"):
        here = root.read_json(f"{place}/run.json")
        if {file["name"]: file["sha256"] for file in here.get("files", [])} != hashes:
            raise _another(root.at(f"{place}/run.json"))
        return True
    for name, sha256 in hashes.items():
        if root.exists(f"{place}/{name}") and _sha256(root, f"{place}/{name}") != sha256:
            raise _another(root.at(f"{place}/{name}"))
    return False


def _copy(bundle: Root, root: Root, path: str) -> None:
    with bundle.open(path) as source, root.writer(path) as target:
        while piece := source.read(_PIECE):
            target.write(piece)


def _note(root: Root, bundle: Root, done: Imported) -> None:
    """Remember which bundle the runs came from; its manifest's hash names it."""
    digest = _sha256(bundle, MANIFEST)
    document = {
        "manifest_sha256": digest,
        "imported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "runs": list(done.runs),
        "already_here": list(done.already_here),
        "models": list(done.models),
    }
    root.write_json(paths.results(f"imports/{digest[:16]}.json"), document)


def _shown(record: dict[str, Any]) -> str:
    return f"{record['model']}/{record['dataset']}"


def _damaged(expected: str, found: str, bundle: Root) -> ShiftlakeError:
    return ShiftlakeError(
        "The bundle is not what its manifest says; nothing was imported.",
        expected=expected,
        found=found,
        where=bundle.url,
        remedy="get the bundle again",
    )


def _another(where: str) -> ShiftlakeError:
    return ShiftlakeError(
        "Another run stands here under the same key; nothing was imported.",
        expected="the same rows",
        found="other ones",
        where=where,
        remedy="find out which of the two is right; remove the other, then import again",
    )
