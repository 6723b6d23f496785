"""What a storage root holds: runs, manifests, models and receipts, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ops.errors import ShiftlakeError
from ops.storage import Root

_T = TypeVar("_T")

# Small files on a remote root cost a round trip each.
_READERS = 16


class RunFile(BaseModel):
    """One Parquet file of a run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    rows: int
    sha256: str = ""
    bytes: int = 0


class Run(BaseModel):
    """A sealed run, as its ``run.json`` says; `folder` is where it lies below the root."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder: str
    run_id: str
    key: str
    model: str
    dataset: str
    benchmark: str
    condition: str
    dataset_version: str
    weights_sha256: str | None = None
    transform: dict[str, Any] = Field(default_factory=dict)
    transform_hash: str | None = None
    numerics: dict[str, Any] = Field(default_factory=dict)
    code_version: str = ""
    label_space: str
    mask: str | None = None
    n_expected: int
    n_seen: int
    n_error: int
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None
    images_per_second: float | None = None
    versions: dict[str, Any] = Field(default_factory=dict)
    synthetic: bool = False
    files: tuple[RunFile, ...]


@dataclass(frozen=True)
class Inventory:
    """Everything stored below a root that SQL and status need.

    Parameters
    ----------
    runs : tuple of Run
        Sealed runs whose every file is there.
    damaged : dict
        ``(model, dataset)`` to the name of a file that a sealed run lists and that is missing.
    unsealed : dict
        ``(model, dataset)`` to the number of finished shards of the furthest unsealed run.
    manifests, models : dict
        JSON by dataset and by model name.
    receipts : list
        JSON of every receipt.
    """

    runs: tuple[Run, ...]
    damaged: dict[tuple[str, str], str]
    unsealed: dict[tuple[str, str], int]
    manifests: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]]
    receipts: list[dict[str, Any]]


def take_inventory(root: Root) -> Inventory:
    """Read the seals of everything below `root`; nothing large is opened."""
    names = root.list("predictions")
    present = set(names)
    seals = [name for name in names if name.endswith("/run.json")]
    runs, damaged = [], {}
    for run in _read_all(seals, lambda name: _read_run(root, name)):
        missing = [f.name for f in run.files if f"{run.folder}/{f.name}" not in present]
        if missing:
            damaged[run.model, run.dataset] = missing[0]
        else:
            runs.append(run)
    manifests = _read_named(root, "shards", "/manifest.json")
    entries = [
        name for name in root.list("models") if name.count("/") == 1 and name.endswith(".json")
    ]
    names_of_models = [name.removeprefix("models/").removesuffix(".json") for name in entries]
    receipts = [name for name in root.list("sources") if name.endswith(".receipt.json")]
    return Inventory(
        runs=tuple(sorted(runs, key=lambda run: (run.model, run.dataset, run.run_id))),
        damaged=damaged,
        unsealed=_unsealed(names, {seal.rpartition("/")[0] for seal in seals}),
        manifests=manifests,
        models=dict(zip(names_of_models, _read_all(entries, root.read_json), strict=True)),
        receipts=_read_all(receipts, root.read_json),
    )


def _read_named(root: Root, folder: str, suffix: str) -> dict[str, dict[str, Any]]:
    names = [name for name in root.list(folder) if name.endswith(suffix)]
    keys = [name.removeprefix(f"{folder}/").removesuffix(suffix) for name in names]
    return dict(zip(keys, _read_all(names, root.read_json), strict=True))


def _read_all(names: Iterable[str], read: Callable[[str], _T]) -> list[_T]:
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(read, names))


def _read_run(root: Root, name: str) -> Run:
    try:
        return Run.model_validate({**root.read_json(name), "folder": name.rpartition("/")[0]})
    except (ValidationError, TypeError) as error:
        raise ShiftlakeError(
            "The seal of a run cannot be understood.",
            expected="a run.json that an evaluation wrote",
            found=str(error).splitlines()[-1].strip(),
            where=root.at(name),
            remedy="remove the file and evaluate again: finished shards are kept",
        ) from error


def _unsealed(names: list[str], sealed: set[str]) -> dict[tuple[str, str], int]:
    shards: dict[str, int] = {}
    for name in names:
        folder = name.rpartition("/")[0]
        if name.endswith(".parquet") and folder not in sealed:
            shards[folder] = shards.get(folder, 0) + 1
    furthest: dict[tuple[str, str], int] = {}
    for folder, count in shards.items():
        _, model, *condition, _ = folder.split("/")
        pair = (model, "/".join(condition))
        furthest[pair] = max(count, furthest.get(pair, 0))
    return furthest
