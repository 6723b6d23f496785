"""Taking a bundle's runs into another root, where they are runs like any other.

Everything is checked before anything is stored: the hash of every file, the names, the records,
every row, and that nothing that stands here would be replaced by something else. A file is read
once: what was hashed and checked is the copy that is then moved into the root.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.results.bundle.checked_rows import check_rows
from ops.results.bundle.manifest import (
    DATABASE,
    DATABASE_HASH,
    MANIFEST,
    UNFINISHED,
    BundleFile,
    BundleManifest,
    check_path,
    damaged,
    manifest_of,
)
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    from ops.inference.record import RunRecord

_PIECE = 8 << 20
# Of an entry: what says nothing about results, or is said of this lake alone.
_OWN_FIELDS = ("note", "parameters", "normaliser", "imported", "origin")


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
        Names of the models whose entries were taken in, marked as imported: they cannot be run.
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
        and its place, files or rows disagree; or a run or model of the same name here is another
        one. Nothing is imported then.

    Notes
    -----
    A run of a dataset that is not built here is seen as stale until it is: its version cannot be
    compared. The weights of a model are never in a bundle, and what its entry names is never
    loaded: see ``ModelEntry.imported``. It is no normaliser here, whatever it was there.
    """
    root, bundle = open_root(root), open_root(folder)
    content = bundle.read_bytes(MANIFEST) if bundle.exists(MANIFEST) else None
    manifest = manifest_of(bundle, content)
    if not manifest.rows:
        raise ShiftlakeError(
            "The bundle has no rows to import.",
            expected="a bundle with predictions",
            found="tables alone",
            where=bundle.url,
            remedy="open its results.duckdb, or ask for a bundle that was made with --rows",
        )
    _check_names(bundle, manifest)
    # On the disk of a local root, where the copies are moved and not copied again.
    with tempfile.TemporaryDirectory(prefix="import-", dir=root.scratch()) as scratch:
        copies = Path(scratch)
        for path, stated in manifest.files.items():
            kept = path.startswith(("models/", "predictions/"))
            _copy(bundle, path, stated, copies / path if kept else None)
        _check_database(bundle)
        models = {
            path.removeprefix("models/").removesuffix(".json"): _read_model(copies, path, bundle)
            for path in manifest.files
            if path.startswith("models/")
        }
        records = {
            path.rpartition("/")[0]: _read_record(copies, path, manifest, bundle)
            for path in sorted(manifest.files)
            if path.startswith("predictions/") and path.endswith("/run.json")
        }
        _check_no_stray(manifest, records, bundle)
        new_models = _new_models(root, models)
        known = {place for place, record in records.items() if _stands(root, place, record)}
        new = [place for place in records if place not in known]
        for place in new:
            check_rows(copies / place, records[place], bundle)
        published, total = 0, len(new) + sum(len(records[place].files) for place in new)
        for place in new:
            for file in records[place].files:
                root.publish(copies / place / file.name, f"{place}/{file.name}")
                published += 1
                if progress:
                    progress(published, total)
        for name in new_models:
            root.write_json(paths.model(name), models[name])
        for place in new:
            # The seal, once all it speaks of is there.
            root.write_bytes(f"{place}/run.json", (copies / place / "run.json").read_bytes())
            published += 1
            if progress:
                progress(published, total)
    done = Imported(
        tuple(_shown(records[place]) for place in new),
        tuple(_shown(records[place]) for place in records if place in known),
        tuple(new_models),
    )
    _note(root, hashlib.sha256(content or b"").hexdigest(), done)
    return done


def _check_names(bundle: Root, manifest: BundleManifest) -> None:
    named = {*manifest.files, MANIFEST, DATABASE, DATABASE_HASH, UNFINISHED}
    if strangers := [path for path in bundle.list("") if path not in named]:
        raise damaged("only the files that the manifest names", strangers[0], bundle)
    for path, stated in manifest.files.items():
        if (size := bundle.size(path)) != stated.bytes:
            found = "no file" if size is None else f"{size:,} bytes"
            raise damaged(f"{stated.bytes:,} bytes", f"{path}: {found}", bundle)
    for path in (DATABASE, DATABASE_HASH):
        if not bundle.exists(path):
            raise damaged(path, "no such file", bundle)


def _copy(bundle: Root, path: str, stated: BundleFile, copy: Path | None) -> None:
    """Hash a file of the bundle, and keep what was hashed."""
    digest = hashlib.sha256()
    if copy is not None:
        copy.parent.mkdir(parents=True, exist_ok=True)
    with bundle.open(path) as source, Path(copy or os.devnull).open("wb") as target:
        while piece := source.read(_PIECE):
            digest.update(piece)
            target.write(piece)
        if copy is not None:
            target.flush()
            os.fsync(target.fileno())
    if (found := digest.hexdigest()) != stated.sha256:
        raise damaged(f"sha256 {stated.sha256}", f"{path}: sha256 {found}", bundle)


def _check_database(bundle: Root) -> None:
    expected = bundle.read_bytes(DATABASE_HASH).decode("ascii", "replace").split()[:1]
    if [_sha256(bundle, DATABASE)] != expected:
        raise damaged(f"sha256 {''.join(expected)}", f"{DATABASE}: another", bundle)


def _sha256(bundle: Root, path: str) -> str:
    digest = hashlib.sha256()
    with bundle.open(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read_model(copies: Path, path: str, bundle: Root) -> dict[str, Any]:
    """A model's entry as it will stand here, marked so that nothing it names is ever loaded."""
    # Brings torch.
    from ops.models import ModelEntry

    try:
        entry = ModelEntry.model_validate_json((copies / path).read_bytes())
    except ValidationError as error:
        raise damaged("a model's entry", f"{path}: {error.errors()[0]['msg']}", bundle) from error
    if paths.model(entry.name) != path:
        raise damaged(f"the entry of {path}", f"that of {entry.name}", bundle)
    own = {"imported": True, "normaliser": False, "origin": None}
    return entry.model_copy(update=own).model_dump(mode="json")


def _read_record(copies: Path, path: str, manifest: BundleManifest, bundle: Root) -> RunRecord:
    from ops.inference.record import RunRecord

    try:
        record = RunRecord.model_validate_json((copies / path).read_bytes())
    except ValidationError as error:
        raise damaged("a run's record", f"{path}: {error.errors()[0]['msg']}", bundle) from error
    place = paths.run(record.model, record.dataset, record.key)
    if f"{place}/run.json" != path:
        raise damaged(f"the record of {path}", f"that of {place}", bundle)
    if record.run_id != record.key:
        raise damaged(f"{record.key} as the run's id", record.run_id, bundle)
    if record.dataset != f"{record.benchmark}/{record.condition}":
        raise damaged("benchmark/condition as the dataset's name", record.dataset, bundle)
    for file in record.files:
        name = f"{place}/{file.name}"
        check_path(name, bundle)
        stated = manifest.files.get(name)
        if stated is None or "/" in file.name:
            raise damaged("every file of the run", f"none called {name}", bundle)
        if (stated.sha256, stated.bytes) != (file.sha256, file.bytes):
            raise damaged("the file that the record names", f"another: {name}", bundle)
    return record


def _check_no_stray(manifest: BundleManifest, records: dict[str, RunRecord], bundle: Root) -> None:
    of_runs = {f"{place}/run.json" for place in records}
    for place, record in records.items():
        of_runs |= {f"{place}/{file.name}" for file in record.files}
    for path in manifest.files:
        if path.startswith("predictions/") and path not in of_runs:
            raise damaged("only files of a sealed run", path, bundle)
    for record in records.values():
        if paths.model(record.model) not in manifest.files:
            raise damaged("the entry of every model", f"none of {record.model}", bundle)


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
            # A field of a newer release is not yet in an older entry.
            if key not in _OWN_FIELDS and key in here and here[key] != entry.get(key)
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


def _stands(root: Root, place: str, record: RunRecord) -> bool:
    """Whether the same run is sealed here; a part of it that stands must be the same, too."""
    hashes = {file.name: file.sha256 for file in record.files}
    if root.exists(f"{place}/run.json"):
        here = root.read_json(f"{place}/run.json")
        if {file["name"]: file["sha256"] for file in here.get("files", [])} != hashes:
            raise _another(root.at(f"{place}/run.json"))
        return True
    for name, sha256 in hashes.items():
        if root.exists(f"{place}/{name}") and _sha256(root, f"{place}/{name}") != sha256:
            raise _another(root.at(f"{place}/{name}"))
    return False


def _note(root: Root, digest: str, done: Imported) -> None:
    """Remember which bundle the runs came from; its manifest's hash names it."""
    document = {
        "manifest_sha256": digest,
        "imported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "runs": list(done.runs),
        "already_here": list(done.already_here),
        "models": list(done.models),
    }
    root.write_json(paths.results(f"imports/{digest[:16]}.json"), document)


def _shown(record: RunRecord) -> str:
    return f"{record.model}/{record.dataset}"


def _another(where: str) -> ShiftlakeError:
    return ShiftlakeError(
        "Another run stands here under the same key; nothing was imported.",
        expected="the same rows",
        found="other ones",
        where=where,
        remedy="find out which of the two is right; remove the other, then import again",
    )
