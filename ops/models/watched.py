"""A folder or S3 prefix that models are put into: one YAML file for each, its weights beside it.

What is found is only described here, cheaply and without torch; :func:`register_watched` then
registers one of them.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, checked_name
from ops.models.registry import register
from ops.models.statement import PROGRAMS, Statement, entry_of, stated
from ops.storage import Root, open_root

_YAML = (".yaml", ".yml")
_WEIGHTS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".caffemodel", *PROGRAMS)
# Fields of the YAML that are not the model's own.
_BESIDE = ("weights", "sha256")


@dataclass(frozen=True)
class WatchedModel:
    """One YAML file of a watched folder.

    Parameters
    ----------
    location : str
        The folder or ``s3://`` prefix.
    file : str
        The YAML file, below it.
    name : str
        The model's name: the file's, without its suffix.
    stamp : str
        16 hex digits that change with the YAML or the weights.
    statement : Statement or None
        What it says; None where `problem` is set.
    weights : str or None
        The weights file, below the location; None where the source has them.
    sha256 : str or None
        What the weights are said to have.
    waiting : str or None
        Why it is not complete yet; it may be at the next look.
    problem : str or None
        Why it never will be, unless somebody corrects it.
    """

    location: str
    file: str
    name: str
    stamp: str
    statement: Statement | None = None
    weights: str | None = None
    sha256: str | None = None
    waiting: str | None = None
    problem: str | None = None

    @property
    def ready(self) -> bool:
        """Whether it can be registered now."""
        return self.waiting is None and self.problem is None


def watched_models(location: str, *, settle: float = 10.0) -> list[WatchedModel]:
    """What lies in a watched folder.

    Parameters
    ----------
    location : str
        A local folder or an ``s3://`` prefix. Each ``<name>.yaml`` in it, or in a folder below,
        holds the fields of :class:`ops.models.statement.Statement`, and may hold ``weights``, a
        file name beside it, and ``sha256``, what that file must have. Without ``weights`` a file
        of the same name is taken; ``weights: null`` says that there is none, and that the code
        makes its own.
    settle : float
        Seconds a local file must have been left alone; objects of S3 appear whole.

    Returns
    -------
    list of WatchedModel
        Sorted by name. Broken and incomplete ones are among them, with the reason.

    Raises
    ------
    ShiftlakeError
        If the folder does not exist.
    """
    root = open_root(location)
    if root.is_local and not root.local_path("").is_dir():
        raise ShiftlakeError(
            "The watched folder does not exist.",
            expected="a folder, or an s3:// prefix",
            found="nothing",
            where=location,
            remedy="make the folder, or correct SHIFTLAKE_MODELS",
        )
    try:
        files = [file for file in root.list("") if not _hidden(file)]
    except OSError as error:
        raise _unreadable(error, location) from error
    there = set(files)
    found: dict[str, WatchedModel] = {}
    for file in files:
        if PurePosixPath(file).suffix not in _YAML:
            continue
        model = _described(root, location, file, there, settle)
        if (other := found.get(model.name)) is not None:
            model = _broken(model, f"{other.file} has the same name")
        found[model.name] = model
    return [found[name] for name in sorted(found)]


def register_watched(root: Root | str, model: WatchedModel, *, check: bool = True) -> ModelEntry:
    """Register a model of a watched folder.

    A model of its name is replaced if it came from the same folder.

    Parameters
    ----------
    root : Root or str
        The storage root.
    model : WatchedModel
        One that is ready.
    check : bool
        As :func:`ops.models.register` takes it.

    Returns
    -------
    ModelEntry
        As it was registered.

    Raises
    ------
    ShiftlakeError
        If it is not ready, its weights are not those it says, its name is a model's that came
        from elsewhere or that a person registered, or it cannot be registered.
    """
    if model.statement is None or not model.ready:
        raise ShiftlakeError(
            "A watched model is not ready.",
            expected="a correct YAML file, and complete weights beside it",
            found=model.problem or model.waiting or "neither",
            where=f"{model.location}, {model.file}",
            remedy="correct the file" if model.problem else "wait until the upload has ended",
        )
    source = open_root(model.location)
    try:
        local = None if model.weights is None else source.local_copy(model.weights)
    except OSError as error:
        raise _unreadable(error, f"{model.location}, {model.weights}") from error
    try:
        if local is not None and model.weights is not None:
            if model.sha256 is not None:
                with local.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                if digest != model.sha256:
                    raise ShiftlakeError(
                        "The weights are not those that are announced.",
                        expected=f"sha256 {model.sha256}",
                        found=f"sha256 {digest}",
                        where=source.at(model.weights),
                        remedy="upload the file again, or correct sha256 in the YAML",
                    )
            # A copy out of S3 has a name of its own, and the suffix says how to read it.
            named = PurePosixPath(model.weights).name
            if local.name != named:
                folder = local.with_name(f"{local.name}-{model.stamp}")
                folder.mkdir(exist_ok=True)
                (link := folder / named).unlink(missing_ok=True)
                link.symlink_to(local)
                try:
                    return _registered(root, model, link, check)
                finally:
                    link.unlink()
                    folder.rmdir()
        return _registered(root, model, local, check)
    finally:
        if model.weights is not None:
            source.drop_copy(model.weights)


def _registered(
    root: Root | str, model: WatchedModel, weights: Path | None, check: bool
) -> ModelEntry:
    assert model.statement is not None
    entry, file = entry_of(model.name, model.statement, weights)
    # Written out in full, whichever way the folder was named.
    origin = open_root(model.location).url
    return register(root, entry.model_copy(update={"origin": origin}), file, check=check)


def _unreadable(error: OSError, where: str) -> ShiftlakeError:
    return ShiftlakeError(
        "A watched place cannot be read.",
        expected="a folder or s3:// prefix that may be listed, and files that may be read",
        found=f"{type(error).__name__}: {error}",
        where=where,
        remedy="check that it is there, and the permissions; for S3 the AWS_* variables",
    )


def _hidden(file: str) -> bool:
    # Among them what rsync and this project's own writer have not finished.
    return any(part.startswith(".") for part in PurePosixPath(file).parts)


def _described(
    root: Root, location: str, file: str, there: set[str], settle: float
) -> WatchedModel:
    path = PurePosixPath(file)
    found = WatchedModel(location, file, path.stem, _stamp(_state(root, file)))
    try:
        checked_name(path.stem, file)
        text = root.read_bytes(file).decode()
        fields = yaml.safe_load(text)
    except ShiftlakeError as error:
        return _broken(found, f"{error.what} {error.expected}; found {error.found}")
    except FileNotFoundError:
        return _incomplete(found, "it is gone again")
    except OSError as error:
        return _broken(found, f"it cannot be read: {error}")
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        line = " ".join(str(error).split())
        return _broken(found, f"it is no YAML: {line}")
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        return _broken(found, f"it holds no fields, but {type(fields).__name__}")
    without = "weights" in fields and fields["weights"] is None
    named, digest = (fields.pop(key, None) for key in _BESIDE)
    if not isinstance(named, str | None) or not isinstance(digest, str | None):
        return _broken(found, "weights and sha256 must be texts")
    reference = fields.get("reference")
    if named is None and isinstance(reference, str) and _is_program(reference):
        named = reference
    if named is not None and PurePosixPath(named).name != named:
        return _broken(found, f"weights must be a file beside it, not {named}")
    weights = None if without else _weights(path, named, there)
    if weights is not None and reference is None and _is_program(weights):
        fields["reference"] = PurePosixPath(weights).name
    try:
        if isinstance(fields.get("class_map"), str):
            fields["class_map"] = _list_in(root, path, fields["class_map"], there)
        statement = stated(fields, where=file)
    except ShiftlakeError as error:
        return _broken(found, f"{error.what} {error.expected}; found {error.found}")
    except RecursionError:
        return _broken(found, "its class map or arguments are nested too deeply")
    if weights is None and not without and not _has_weights(statement.reference):
        return _incomplete(found, f"{named or 'a weights file of its name'} is not beside it yet")
    states = [_state(root, file), *([] if weights is None else [_state(root, weights)])]
    found = WatchedModel(
        location,
        file,
        path.stem,
        _stamp(*states, statement.model_dump_json()),
        statement,
        weights,
        digest.lower() if digest else None,
    )
    if weights is not None and (reason := _unfinished(root, weights, settle)) is not None:
        return _incomplete(found, reason)
    return found


def _weights(path: PurePosixPath, named: str | None, there: set[str]) -> str | None:
    names = [named] if named is not None else [path.stem + suffix for suffix in _WEIGHTS]
    beside = (str(path.with_name(name)) for name in names)
    return next((file for file in beside if file in there), None)


def _is_program(reference: str) -> bool:
    return PurePosixPath(reference).suffix.lower() in PROGRAMS


def _has_weights(reference: str) -> bool:
    """Whether the source a reference names brings the weights."""
    return reference.partition(":")[0] in ("timm", "torchvision", "open_clip", "hf")


def _list_in(root: Root, path: PurePosixPath, named: str, there: set[str]) -> Any:
    file = str(path.with_name(PurePosixPath(named).name))
    if file not in there:
        raise ShiftlakeError(
            "The class map is missing.",
            expected="a list, or the name of a JSON file beside it",
            found=named,
            where=str(path),
            remedy="upload the file first",
        )
    return root.read_json(file)


def _state(root: Root, file: str) -> str:
    """Size and time of a file, or its entity tag; empty where it is gone."""
    try:
        if root.is_local:
            stat = root.local_path(file).stat()
            return f"{file} {stat.st_size} {stat.st_mtime_ns}"
        info = root.fs.info(root.at(file))
        return f"{file} {info['size']} {info.get('ETag') or info.get('LastModified')}"
    except FileNotFoundError:
        return ""


def _stamp(*states: str) -> str:
    return hashlib.sha256(json.dumps(states).encode()).hexdigest()[:16]


def _unfinished(root: Root, file: str, settle: float) -> str | None:
    """Why a weights file may still grow, or None."""
    if not root.size(file):
        return f"{file} is empty"
    if not root.is_local:
        return None
    age = time.time() - (root.modified(file) or 0.0)
    # A clock that runs ahead elsewhere must not stop a file for ever.
    if -60 < age < settle:
        return f"{file} changed {max(age, 0):.0f} seconds ago"
    path = root.local_path(file)
    if path.suffix == ".safetensors":
        with path.open("rb") as content:
            head = content.read(8)
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
            try:
                tensors = json.loads(content.read(min(length, 100 << 20)))
                ends = [
                    value["data_offsets"][1] for key, value in tensors.items() if key[:2] != "__"
                ]
                whole = 8 + length + max(ends, default=0)
            except (
                *(ValueError, KeyError, TypeError, IndexError, AttributeError),
                RecursionError,
            ):
                return f"{file} has no complete header"
        if path.stat().st_size < whole:
            return f"{file} has {path.stat().st_size:,} of {whole:,} bytes"
    elif path.suffix == ".pt2" and not zipfile.is_zipfile(path):
        return f"{file} has no end yet"
    return None


def _broken(model: WatchedModel, problem: str) -> WatchedModel:
    return WatchedModel(model.location, model.file, model.name, model.stamp, problem=problem)


def _incomplete(model: WatchedModel, reason: str) -> WatchedModel:
    return WatchedModel(model.location, model.file, model.name, model.stamp, waiting=reason)
