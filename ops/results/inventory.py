"""What a storage root holds: runs, manifests, models and receipts, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel

from ops.fetch import Receipt
from ops.inference.failure import Failure
from ops.inference.schema import SCHEMA_VERSION
from ops.models import ModelEntry
from ops.results.compaction_index import EMPTY, INDEXED, Index, Unfinished, parts_name, read_index
from ops.results.damage import Unreadable, read_as
from ops.results.runs import Run, RunFile, runs_of, table_of
from ops.shards import Manifest
from ops.storage import Root
from ops.storage.stamp import Listing, folders_in, list_folders, times_of

__all__ = ["Inventory", "Run", "RunFile", "take_inventory"]

_T = TypeVar("_T")
Pair = tuple[str, str]

# Small files on a remote root cost a round trip each.
_READERS = 16
AGAIN = "evaluate again: whole shards are kept"
_SCHEMAS = tuple(str(version) for version in range(1, int(SCHEMA_VERSION) + 1))


@dataclass(frozen=True)
class Inventory:
    """Everything stored below a root that SQL and status need.

    Parameters
    ----------
    read : tuple of Run
        Sealed runs read from their seals, whose every file is there with the size the seal says.
    damaged, newer : dict
        ``(model, dataset)`` to what is wrong with a sealed run of it, and what to do; and to why
        this release cannot read one.
    unfinished : dict
        By model name: what is not sealed.
    manifests, models : dict
        JSON by dataset and by model name.
    receipts : list
        JSON of every receipt.
    unreadable : tuple of Unreadable
        Manifests, entries and receipts that are damaged.
    index : Index
        What compaction noted; empty where there is none.
    unchanged : frozenset of str
        Models of which nothing has changed since. Their runs are taken from the index.
    """

    read: tuple[Run, ...]
    damaged: dict[Pair, str]
    newer: dict[Pair, str]
    unfinished: dict[str, Unfinished]
    manifests: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]]
    receipts: list[dict[str, Any]]
    unreadable: tuple[Unreadable, ...] = ()
    index: Index = EMPTY
    unchanged: frozenset[str] = frozenset()

    @cached_property
    def table(self) -> pa.Table:
        """Every sealed run, of the columns `INDEXED`, by model, dataset and run id."""
        noted = self.index.runs_of(self.unchanged)
        if not self.read:
            return noted
        own = table_of(self.read)
        # What was compacted of a run stays good for as long as the run has the same files.
        known = self.index.parts_of({run.model for run in self.read})
        parts = [known.get(parts_name(run), None) for run in self.read]
        own = own.append_column("reason", pa.nulls(len(own), pa.string()))
        own = own.append_column("parts", pa.array(parts, INDEXED.field("parts").type))
        return pa.concat_tables([noted, own.cast(INDEXED)]).sort_by(
            [(name, "ascending") for name in ("model", "dataset", "run_id")]
        )

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of `table`, in its order."""
        return tuple(runs_of(self.table))

    @cached_property
    def unsealed(self) -> dict[Pair, dict[str, int]]:
        """``(model, dataset)`` to the number of finished shards by the key of an unsealed run."""
        found: dict[Pair, dict[str, int]] = {}
        for model, unfinished in self.unfinished.items():
            for (dataset, key), shards in unfinished.shards.items():
                found.setdefault((model, dataset), {})[key] = shards
        return found

    @cached_property
    def failures(self) -> dict[Pair, dict[str, Failure]]:
        """``(model, dataset)`` to why an unsealed run failed, by its key."""
        found: dict[Pair, dict[str, Failure]] = {}
        for model, unfinished in self.unfinished.items():
            for (dataset, key), failure in unfinished.failures.items():
                found.setdefault((model, dataset), {})[key] = failure
        return found

    def is_unreadable(self, path: str) -> bool:
        """Whether the file `path` below the root is damaged."""
        return any(file.path == path for file in self.unreadable)


@dataclass
class _Read:
    """What the folders of some models hold."""

    runs: list[Run] = field(default_factory=list)
    damaged: dict[Pair, str] = field(default_factory=dict)
    newer: dict[Pair, str] = field(default_factory=dict)
    unfinished: dict[str, Unfinished] = field(default_factory=dict)


def take_inventory(root: Root) -> Inventory:
    """Read the seals of everything below `root`; nothing large is opened, and nothing raised.

    Of models that have been compacted and have not changed since, no seal is opened either.
    """
    index = read_index(root)
    listings = changed_models(root, index)
    read = read_models(root, listings)
    unchanged = frozenset(index.models) & frozenset(folders_in(root, "predictions"))
    unchanged -= listings.keys()
    shards, registry, sources = (
        listing.sizes for listing in list_folders(root, ["shards", "models", "sources"])
    )
    manifests, bad_manifests = _read_named(
        root,
        [name for name in shards if name.endswith("/manifest.json")],
        Manifest,
        "build the dataset again",
    )
    models, bad_models = _read_named(
        root,
        [n for n in registry if n.count("/") == 1 and n.endswith(".json")],
        ModelEntry,
        "register it again",
    )
    receipts, bad_receipts = _read_named(
        root,
        [name for name in sources if name.endswith(".receipt.json")],
        Receipt,
        "remove it and fetch again: the file stays",
    )
    return Inventory(
        read=tuple(sorted(read.runs, key=lambda run: (run.model, run.dataset, run.run_id))),
        damaged=read.damaged,
        newer=read.newer,
        unfinished=read.unfinished | {name: index.models[name].unfinished for name in unchanged},
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
        index=index,
        unchanged=unchanged,
    )


def changed_models(root: Root, index: Index) -> dict[str, Listing]:
    """What lies below the folder of every model that is not as the index notes it."""
    names = folders_in(root, "predictions")
    if root.is_local:
        # Times of change are fast to ask for; only what has changed is listed.
        names = [
            name
            for name in names
            if name not in index.models
            or times_of(root, index.models[name].folders) != index.models[name].stamp
        ]
    listings = list_folders(root, [f"predictions/{name}" for name in names])
    return {
        name: listing
        for name, listing in zip(names, listings, strict=True)
        if root.is_local or name not in index.models or listing.tags != index.models[name].stamp
    }


def read_models(root: Root, listings: Mapping[str, Listing]) -> _Read:
    """Read the seals of some models, given what lies below their folders."""
    found = _Read()
    seals = [
        (name, listing.sizes)
        for listing in listings.values()
        for name in listing.sizes
        if name.endswith("/run.json")
    ]
    runs = _read_all(root, [name for name, _ in seals], lambda name: _read_run(root, name))
    for (seal, sizes), run in zip(seals, runs, strict=True):
        if isinstance(run, Unreadable):
            found.damaged[_pair(seal)] = run.reason
        elif isinstance(run, str):
            found.newer[_pair(seal)] = run
        elif run is not None and (wrong := _wrong_file(run, sizes)) is not None:
            found.damaged[run.model, run.dataset] = f"{wrong}; {AGAIN}"
        elif run is not None:
            found.runs.append(run)
    for model, listing in listings.items():
        unfinished = _unfinished(root, listing.sizes)
        if unfinished.shards or unfinished.failures:
            found.unfinished[model] = unfinished
    return found


def _wrong_file(run: Run, sizes: Mapping[str, int]) -> str | None:
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
    found = _read_all(root, names, lambda name: read_as(root, name, kind, remedy))
    good = {
        name: content.model_dump(mode="json")
        for name, content in zip(names, found, strict=True)
        if isinstance(content, BaseModel)
    }
    return good, [content for content in found if isinstance(content, Unreadable)]


def _read_all(root: Root, names: Iterable[str], read: Callable[[str], _T]) -> list[_T]:
    if root.is_local:
        # On a local disk threads only wait for one another.
        return list(map(read, names))
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(read, names))


class _Schema(BaseModel):
    """The one field of a run that says whether the others can be understood."""

    schema_version: str = "1"


def _read_run(root: Root, name: str) -> Run | Unreadable | str | None:
    run = read_as(root, name, Run, AGAIN, folder=name.rpartition("/")[0])
    # A newer release may have other fields: its version is asked for first.
    if isinstance(run, Unreadable):
        schema = read_as(root, name, _Schema, AGAIN)
        version = schema.schema_version if isinstance(schema, _Schema) else "1"
    else:
        version = "1" if run is None else run.schema_version
    if version in _SCHEMAS:
        return run
    return (
        f"evaluated by a newer release (rows of schema {version}, this release reads "
        f"{' and '.join(_SCHEMAS)}): update Shiftlake, or evaluate again"
    )


def _pair(path: str) -> Pair:
    _, model, *dataset, _, _ = path.split("/")
    return model, "/".join(dataset)


def _unfinished(root: Root, sizes: Mapping[str, int]) -> Unfinished:
    sealed = {name.rpartition("/")[0] for name in sizes if name.endswith("/run.json")}
    found = Unfinished()
    for name in sizes:
        folder, _, file = name.rpartition("/")
        if folder in sealed or folder.endswith("/logits"):
            continue
        if file.endswith(".parquet"):
            cell = _pair(name)[1], folder.rpartition("/")[2]
            found.shards[cell] = found.shards.get(cell, 0) + 1
        elif file == "failure.json":
            failure = read_as(root, name, Failure, AGAIN)
            if isinstance(failure, Failure):
                found.failures[_pair(name)[1], folder.rpartition("/")[2]] = failure
    return found
