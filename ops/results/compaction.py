"""Merge the many small files of the runs into few, and note what the seals say.

An evaluation writes a file a shard, and a seal beside them; a thousand models on a hundred datasets
are millions of files. They stay the truth. What is made here is a cache below ``compacted/``: each
run's rows in one file (more where it has very many rows), and an index from which
:func:`ops.results.connect` knows every run without opening a seal. A merged file is named by the
content of the files it is made of, and used only while the seal names those; an index entry only
while nothing below its model's folder has changed. Deleting ``compacted/`` loses nothing.

:func:`ops.results.compute_metrics` begins with it, so that whoever evaluates has it without asking.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ops.errors import ShiftlakeError
from ops.inference.schema import SCHEMA_VERSION
from ops.parallel import usable_cpus
from ops.results.compaction_index import (
    INDEXED,
    Index,
    IndexedModel,
    Unfinished,
    entry_digest,
    write_index,
)
from ops.results.compaction_rows import merge, whole_parts, worth_merging
from ops.results.currency import code_digest, judge
from ops.results.inventory import Inventory, changed_models, read_models, take_inventory
from ops.results.runs import Run, runs_of
from ops.storage import Root, open_root
from ops.storage.stamp import Listing, folders_in, list_folders, settle, times_of

# Of the free space of a local disk, what merged rows may take: results have to fit beside them.
_DISK_SHARE = 0.5

# A merged file that no index names may be of a compaction that is still at work elsewhere.
_UNNAMED_S = 24 * 3600

# Runs that are merged at once, also on a remote root: very large ones take 400 MB each.
_AT_ONCE = 4


@dataclass(frozen=True)
class Compacted:
    """What a compaction did.

    Parameters
    ----------
    models, runs : int
        Noted in the index.
    merged : int
        Runs whose rows were merged now; those of others were before, or lie in one file.
    files, bytes : int
        Merged files that are there now, and their size.
    removed : int
        Files that no run has needed for a day.
    skipped : tuple of str
        What could not be noted or merged, and why.
    """

    models: int
    runs: int
    merged: int
    files: int
    bytes: int
    removed: int
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class _Seen:
    """A model's folder: first how it looked, then what was in it."""

    stamp: str
    folders: tuple[str, ...]
    listing: Listing


def compact(
    root: Root | str,
    models: Collection[str] | None = None,
    *,
    rows: bool = True,
    log: Callable[[str], object] = lambda _: None,
) -> Compacted:
    """Bring ``compacted/`` up to date with the sealed runs.

    Parameters
    ----------
    root : Root or str
    models : collection of str, optional
        Names; all models by default. What was noted of others stays.
    rows : bool
        Merge rows too. Without them only the index is made, which takes hardly any disk.
    log : callable
        Told of each run that is merged.

    Returns
    -------
    Compacted

    Raises
    ------
    ShiftlakeError
        If a model that is named has no runs.

    Notes
    -----
    Two compactions at once, or one while models are evaluated, spoil nothing: only sealed runs are
    merged, what each publishes is whole, the last index counts, and what it does not know is read
    from the runs themselves. Rows that would take more than half of what is free on a local disk
    are not merged. Where nothing has changed since the last time, nothing is written.
    """
    root = open_root(root)
    _refuse_unknown(models, folders_in(root, "predictions"))
    inventory = take_inventory(root)
    before = inventory.index
    if models is None and (nothing := _nothing_to_do(root, inventory, rows)) is not None:
        return nothing
    seen = _look(root, before, models)
    read = read_models(root, {name: each.listing for name, each in seen.items()})
    skipped = [f"{model}/{d}: {why}" for (model, d), why in {**read.damaged, **read.newer}.items()]
    # A model with a run that is out of order is looked at anew each time.
    wrong = {model for model, _ in {**read.damaged, **read.newer}}
    noted = {
        name: IndexedModel(
            "" if name in wrong else each.stamp,
            each.folders,
            read.unfinished.get(name, Unfinished()),
            "",
        )
        for name, each in seen.items()
    }
    kept = {
        n: before.models[n] for n in inventory.unchanged if n in before.models and n not in seen
    }
    inventory = replace(inventory, read=tuple(read.runs), unchanged=frozenset(kept))
    table, current = _judged(root, inventory)
    merged = 0
    if rows:
        table, merged, failed = _with_rows(root, table, current, models, log)
        skipped += failed
    index = {
        name: replace(each, entry=entry_digest(inventory.models.get(name)))
        for name, each in (kept | noted).items()
    }
    # Others that have changed are not looked at now: what was merged of them may still be good.
    others = {
        name: replace(each, stamp="")
        for name, each in before.models.items()
        if name not in index and models is not None and name in folders_in(root, "predictions")
    }
    table = pa.concat_tables([table, before.runs_of(frozenset(others))]).sort_by(
        [(name, "ascending") for name in ("model", "dataset", "run_id")]
    )
    own = write_index(root, index | others, table, code_digest(), _versions(inventory))
    parts = _parts(table)
    removed = _remove_unused(root, {*own, *(part["name"] for part in parts)}, before)
    size = sum(part["bytes"] for part in parts)
    return Compacted(
        len(index), len(current), merged, len(parts), size, removed, tuple(sorted(skipped))
    )


def _refuse_unknown(models: Collection[str] | None, there: list[str]) -> None:
    unknown = sorted(set(models or ()) - set(there))
    if unknown:
        raise ShiftlakeError(
            "There is nothing to compact.",
            expected=f"models that have been evaluated: {', '.join(there) or 'none yet'}",
            found=", ".join(unknown),
            where="compact",
            remedy="evaluate the model first, or name another",
        )


def _look(root: Root, before: Index, models: Collection[str] | None) -> dict[str, _Seen]:
    """Look at the models that have changed; a change meanwhile can only make a stamp too old."""
    changed = changed_models(root, before)
    first = {name: each for name, each in changed.items() if models is None or name in models}
    if not root.is_local:
        return {name: _Seen(each.tags, (), each) for name, each in first.items()}
    settle(root, [folder for each in first.values() for folder in each.folders])
    stamps = [times_of(root, each.folders) or "" for each in first.values()]
    then = list_folders(root, [f"predictions/{name}" for name in first])
    return {
        name: _Seen(stamp, each.folders, listing)
        for (name, each), stamp, listing in zip(first.items(), stamps, then, strict=True)
    }


def _nothing_to_do(root: Root, inventory: Inventory, rows: bool) -> Compacted | None:
    """What is there, if all of it is as the index notes it; None if anything has changed."""
    index, there = inventory.index, set(folders_in(root, "predictions"))
    if not there and not index.models:
        # Whoever only looks at a new lake leaves nothing in it.
        return Compacted(0, 0, 0, 0, 0, 0, ())
    same = (
        index.files
        and inventory.unchanged == set(index.models) == there
        and index.code == code_digest()
        and index.datasets == _versions(inventory)
        and all(
            noted.entry == entry_digest(inventory.models.get(name))
            for name, noted in index.models.items()
        )
    )
    if not same:
        return None
    table, current = _judged(root, inventory)
    if table["parts"] != index.runs["parts"] or (rows and _pending(table, current, None)):
        return None
    parts = _parts(table)
    size = sum(part["bytes"] for part in parts)
    return Compacted(len(index.models), len(current), 0, len(parts), size, 0, ())


def _versions(inventory: Inventory) -> dict[str, str]:
    return {name: manifest["version"] for name, manifest in inventory.manifests.items()}


def _judged(root: Root, inventory: Inventory) -> tuple[pa.Table, list[bool]]:
    """Every run with why it is stale and what it was merged into, and whether it is current."""
    judged = judge(inventory)
    place = INDEXED.get_field_index("reason")
    reasons = pa.array(judged.reasons, pa.string())
    table = judged.table.set_column(place, INDEXED.field("reason"), reasons)
    # What has been deleted since is made again.
    return _with_parts(table, whole_parts(root, table)), judged.current


def _with_parts(table: pa.Table, parts: list[list[dict[str, Any]] | None]) -> pa.Table:
    place, field = INDEXED.get_field_index("parts"), INDEXED.field("parts")
    return table.set_column(place, field, pa.array(parts, field.type))


def _pending(
    table: pa.Table, current: list[bool], models: Collection[str] | None
) -> list[tuple[int, Run]]:
    """Current runs, by their place in the table, whose rows are to be merged."""
    wanted = pc.and_(table["parts"].is_null(), pa.array(current, pa.bool_()))
    # Most runs of a lake of small datasets are one file: no seal is made of their columns.
    several = pc.greater(pc.list_value_length(table["files"]), 1)
    older = pc.not_equal(table["schema_version"], SCHEMA_VERSION)
    wanted = pc.and_(wanted, pc.or_(several, older))
    if models is not None:
        wanted = pc.and_(wanted, pc.is_in(table["model"], pa.array(sorted(models), pa.string())))
    todo = pc.indices_nonzero(wanted)
    runs = runs_of(table.take(todo))
    return [(i, run) for i, run in zip(todo.to_pylist(), runs, strict=True) if worth_merging(run)]


def _with_rows(
    root: Root,
    table: pa.Table,
    current: list[bool],
    models: Collection[str] | None,
    log: Callable[[str], object],
) -> tuple[pa.Table, int, list[str]]:
    """The table with what is merged now, how many runs that are, and what failed."""
    pending = _pending(table, current, models)
    if pending and (why := _no_room(root, [run for _, run in pending])) is not None:
        return table, 0, [why]
    parts = table["parts"].to_pylist()
    failed = []

    def merged(run: Run) -> list[dict[str, Any]] | ShiftlakeError:
        try:
            return merge(root, run)
        except ShiftlakeError as error:
            return error

    # Arrow lets go of the interpreter while it compresses.
    at_once = min(usable_cpus(), _AT_ONCE) if root.is_local else _AT_ONCE
    with ThreadPoolExecutor(at_once) as pool:
        for (i, run), found in zip(pending, pool.map(merged, [r for _, r in pending]), strict=True):
            if isinstance(found, ShiftlakeError):
                failed.append(f"{run.model}/{run.dataset}: {found.what} {found.where}")
                continue
            parts[i] = found
            log(f"{run.model}/{run.dataset}: {len(run.files)} files in {len(found)}")
    return _with_parts(table, parts), len(pending) - len(failed), failed


def _no_room(root: Root, runs: list[Run]) -> str | None:
    """Why rows cannot be merged, if a local disk is too full for it."""
    if not root.is_local:
        return None
    wanted = sum(file.bytes for run in runs for file in run.files)
    free = shutil.disk_usage(root.url).free
    if wanted <= free * _DISK_SHARE:
        return None
    return (
        f"rows of {len(runs):,} runs: {wanted:,} bytes, and {free:,} are free; "
        "at least twice as many have to be"
    )


def _parts(table: pa.Table) -> list[dict[str, Any]]:
    return [part for own in table["parts"].to_pylist() for part in own or ()]


def _remove_unused(root: Root, used: set[str], before: Index) -> int:
    """Remove what neither this compaction nor the last one names, once it is old enough."""
    used = used | {part["name"] for part in _parts(before.runs)} | set(before.files)
    (there,) = list_folders(root, ["compacted"])
    now = time.time()
    unused = [
        name
        for name in there.sizes
        if name not in used and now - (root.modified(name) or now) > _UNNAMED_S
    ]
    for name in unused:
        root.remove(name)
    return len(unused)
