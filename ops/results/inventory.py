"""What a storage root holds: runs, manifests, models and receipts, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ops.fetch import Receipt
from ops.models import ModelEntry
from ops.results.damage import Unreadable, read_as
from ops.shards import Manifest
from ops.storage import Root

_T = TypeVar("_T")

# Small files on a remote root cost a round trip each.
_READERS = 16
AGAIN = "evaluate again: whole shards are kept"


class RunFile(BaseModel):
    """One Parquet file of a run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    rows: int
    sha256: str = ""
    bytes: int


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
    reference: str | None = None
    arguments: dict[str, Any] | None = None
    class_map_sha256: str | None = None
    model_label_space: str | None = None
    transform: dict[str, Any] = Field(default_factory=dict)
    transform_hash: str | None = None
    protocol: str | None = None
    cropped: int | None = None
    frames: int | None = None
    frame_reference: str | None = None
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
        Sealed runs whose every file is there, with the size its seal says.
    damaged : dict
        ``(model, dataset)`` to what is wrong with a sealed run of it, and what to do.
    unsealed : dict
        ``(model, dataset)`` to the number of finished shards by the key of the unsealed run.
    manifests, models : dict
        JSON by dataset and by model name.
    receipts : list
        JSON of every receipt.
    unreadable : tuple of Unreadable
        Manifests, entries and receipts that are damaged.
    """

    runs: tuple[Run, ...]
    damaged: dict[tuple[str, str], str]
    unsealed: dict[tuple[str, str], dict[str, int]]
    manifests: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]]
    receipts: list[dict[str, Any]]
    unreadable: tuple[Unreadable, ...] = ()

    def is_unreadable(self, path: str) -> bool:
        """Whether the file `path` below the root is damaged."""
        return any(file.path == path for file in self.unreadable)


def take_inventory(root: Root) -> Inventory:
    """Read the seals of everything below `root`; nothing large is opened, and nothing raised."""
    sizes = _sizes(root, "predictions")
    seals = [name for name in sizes if name.endswith("/run.json")]
    runs, damaged = [], {}
    for seal, run in zip(seals, _read_all(seals, lambda name: _read_run(root, name)), strict=True):
        if isinstance(run, Unreadable):
            damaged[_pair(seal)] = run.reason
        elif run is not None and (wrong := _wrong_file(run, sizes)) is not None:
            damaged[run.model, run.dataset] = f"{wrong}; {AGAIN}"
        elif run is not None:
            runs.append(run)
    manifests, bad_manifests = _read_named(
        root,
        [name for name in root.list("shards") if name.endswith("/manifest.json")],
        Manifest,
        "build the dataset again",
    )
    models, bad_models = _read_named(
        root,
        [n for n in root.list("models") if n.count("/") == 1 and n.endswith(".json")],
        ModelEntry,
        "register it again",
    )
    receipts, bad_receipts = _read_named(
        root,
        [name for name in root.list("sources") if name.endswith(".receipt.json")],
        Receipt,
        "remove it and fetch again: the file stays",
    )
    return Inventory(
        runs=tuple(sorted(runs, key=lambda run: (run.model, run.dataset, run.run_id))),
        damaged=damaged,
        unsealed=_unsealed(sizes, {seal.rpartition("/")[0] for seal in seals}),
        manifests={
            name.removeprefix("shards/").removesuffix("/manifest.json"): content
            for name, content in manifests.items()
        },
        models={
            name.removeprefix("models/").removesuffix(".json"): content
            for name, content in models.items()
        },
        receipts=list(receipts.values()),
        unreadable=(*bad_manifests, *bad_models, *bad_receipts),
    )


def _sizes(root: Root, folder: str) -> dict[str, int]:
    if root.is_local:
        names = root.list(folder)
        return {name: size for name in names if (size := root.size(name)) is not None}
    # One listing: to ask for every file's size would be a request each.
    found = root.fs.find(root.at(folder), detail=True)
    prefix = root.url.split("://", 1)[1].rstrip("/") + "/"
    return {name.removeprefix(prefix): int(info["size"]) for name, info in sorted(found.items())}


def _wrong_file(run: Run, sizes: dict[str, int]) -> str | None:
    for file in run.files:
        size = sizes.get(f"{run.folder}/{file.name}")
        if size is None:
            return f"{file.name} is missing"
        if size != file.bytes:
            return f"{file.name} has {size:,} bytes instead of {file.bytes:,}"
    return None


def _read_named(
    root: Root, names: list[str], kind: type[BaseModel], remedy: str
) -> tuple[dict[str, dict[str, Any]], list[Unreadable]]:
    found = _read_all(names, lambda name: read_as(root, name, kind, remedy))
    good = {
        name: content.model_dump(mode="json")
        for name, content in zip(names, found, strict=True)
        if isinstance(content, BaseModel)
    }
    return good, [content for content in found if isinstance(content, Unreadable)]


def _read_all(names: Iterable[str], read: Callable[[str], _T]) -> list[_T]:
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(read, names))


def _read_run(root: Root, name: str) -> Run | Unreadable | None:
    return read_as(root, name, Run, AGAIN, folder=name.rpartition("/")[0])


def _pair(path: str) -> tuple[str, str]:
    _, model, *dataset, _, _ = path.split("/")
    return model, "/".join(dataset)


def _unsealed(names: Iterable[str], sealed: set[str]) -> dict[tuple[str, str], dict[str, int]]:
    shards: dict[tuple[str, str], dict[str, int]] = {}
    for name in names:
        folder = name.rpartition("/")[0]
        if name.endswith(".parquet") and folder not in sealed:
            keys = shards.setdefault(_pair(name), {})
            key = folder.rpartition("/")[2]
            keys[key] = keys.get(key, 0) + 1
    return shards
