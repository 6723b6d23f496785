"""The record of detections, written last: without it, they do not exist."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ops.errors import ShiftlakeError
from ops.inference.detections.schema import RECORD_FILE
from ops.storage import Root, open_root, paths


class StoredFile(BaseModel):
    """One Parquet file of stored detections."""

    model_config = ConfigDict(frozen=True)

    name: str
    rows: int
    bytes: int
    sha256: str


class DetectionsRecord(BaseModel):
    """Boxes that one detector found in one dataset, stored as ``run.json``.

    ``n_expected = n_seen + n_error``: all frames of the dataset, those a detector looked at, and
    those it could not. A frame in which nothing was found is seen.

    `origin` says where the boxes come from: ``imported`` from a file of results, of which
    `file_sha256` is the hash, or found by a ``detector`` here, of which `weights_sha256` and
    `detector` say everything. `categories` is what the ids of a detection meant; `n_unmapped`
    counts detections of categories that are no class of the dataset, and were left out, `n_outside`
    imported boxes that reach beyond their frame by more than a tenth of its side;
    `missing_labels` names the classes that the detector cannot report at all. `key` is a hash of
    all that determines the boxes.
    """

    model_config = ConfigDict(frozen=True)

    key: str
    model: str
    dataset: str
    dataset_version: str
    label_space: str
    origin: Literal["imported", "detector"]
    file_sha256: str | None = None
    weights_sha256: str | None = None
    detector: dict[str, Any] | None = None
    categories: str
    missing_labels: tuple[str, ...] = ()
    n_expected: int
    n_seen: int
    n_error: int
    n_detections: int
    n_unmapped: int
    n_outside: int = 0
    code_version: str
    versions: dict[str, str]
    ended_at: str
    seconds: float
    synthetic: bool
    files: tuple[StoredFile, ...]

    def folder(self) -> str:
        """Path of its folder below the root."""
        return paths.detections(self.model, self.dataset, self.key)


def key_of(determinants: dict[str, Any]) -> str:
    """Key of detections: 16 hex digits of the sha256 of what determines them."""
    text = json.dumps(determinants, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_record(root: Root, path: str) -> DetectionsRecord:
    """Read a ``run.json``.

    Raises
    ------
    ShiftlakeError
        If it is damaged, or lies where it does not belong.
    """
    try:
        record = DetectionsRecord.model_validate(root.read_json(path))
    except ValidationError as error:
        raise _damaged(root, path, str(error.errors()[0]["msg"])) from error
    if f"{record.folder()}/{RECORD_FILE}" != path:
        raise _damaged(root, path, f"the record of {record.folder()}")
    return record


def find_detections(
    root: Root | str,
) -> tuple[list[DetectionsRecord], dict[str, ShiftlakeError]]:
    """All stored detections that can be read, and why others cannot.

    Returns
    -------
    list of DetectionsRecord
        By model, dataset and when they were made, the latest last.
    dict of str to ShiftlakeError
        By the folder of the record that is damaged.
    """
    root = open_root(root)
    found, damaged = [], {}
    for path in root.list("detections"):
        folder, _, name = path.rpartition("/")
        if name == RECORD_FILE:
            try:
                found.append(read_record(root, path))
            except ShiftlakeError as error:
                damaged[folder] = error
    return sorted(found, key=lambda e: (e.model, e.dataset, e.ended_at, e.key)), damaged


def list_detections(root: Root | str) -> list[DetectionsRecord]:
    """As :func:`find_detections`, of which none is damaged.

    Raises
    ------
    ShiftlakeError
        If one is.
    """
    found, damaged = find_detections(root)
    for error in damaged.values():
        raise error
    return found


def current_detections(
    records: list[DetectionsRecord], versions: dict[str, str]
) -> list[DetectionsRecord]:
    """The latest of every model and dataset, of the dataset's present version.

    Parameters
    ----------
    records : list of DetectionsRecord
        As :func:`list_detections` sorts them.
    versions : dict of str to str
        Present version of every sealed dataset.
    """
    latest = {
        (each.model, each.dataset): each
        for each in records
        if versions.get(each.dataset) == each.dataset_version
    }
    return list(latest.values())


def _damaged(root: Root, path: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "The record of stored detections cannot be read.",
        expected="the fields of a record, in its own folder",
        found=found,
        where=root.at(path),
        remedy="remove the folder, and import or detect again",
    )
