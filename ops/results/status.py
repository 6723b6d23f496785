"""Every model on every dataset it can be evaluated on: done, missing, partial or stale, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow.compute as pc
from rich.table import Table

from ops.catalog import Catalog
from ops.catalog.classes import understands
from ops.inference.failure import Failure
from ops.results.currency import Judged, judge, keys_today
from ops.results.damage import Unreadable
from ops.results.families import folds
from ops.results.inventory import Inventory, take_inventory
from ops.results.metrics_file import Measured, read_metrics
from ops.storage import Root, open_root, paths


@dataclass(frozen=True)
class StatusRow:
    """One model on one dataset, or one stored file that is damaged.

    Parameters
    ----------
    model, dataset : str
        Empty where a damaged file is not about one.
    state : str
        ``done``, ``stale``, ``partial``, ``failed``, ``missing``, ``imported`` (with other
        results, to be registered here before it can run), ``damaged``, ``newer`` (of a newer
        release than this one) or ``not built``.
    reason : str or None
        Why it is not simply done.
    shards_done, shards : int or None
        Finished shards, and shards the dataset has.
    run_id : str or None
        The current run.
    measured : bool or None
        Whether the table of metrics was computed from this run; None where there is no run.
    """

    model: str
    dataset: str
    benchmark: str
    condition: str
    state: str
    reason: str | None = None
    shards_done: int | None = None
    shards: int | None = None
    run_id: str | None = None
    measured: bool | None = None


def status(root: Root | str, catalog: Catalog, *, compact: bool = False) -> list[StatusRow]:
    """What is done and what is left, by model and dataset.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
        Its datasets marked for evaluation are shown, and any other sealed dataset that has runs.
    compact : bool
        One row a corruption instead of one a severity, and one a benchmark of which nothing is
        built.

    Returns
    -------
    list of StatusRow
        Sorted by model, then in catalog order; damaged files at the end.
    """
    root = open_root(root)
    inventory = take_inventory(root)
    rows = status_rows(inventory, judge(inventory), catalog, read_metrics(root))
    return _folded(rows) if compact else rows


def status_rows(
    inventory: Inventory, judged: Judged, catalog: Catalog, measured: Measured
) -> list[StatusRow]:
    """Status from what is already read."""
    current = _current(judged)
    spaces = {name: spec.label_space for name, spec in catalog.datasets.items() if spec.evaluate}
    table = inventory.table
    for dataset, space in zip(
        table["dataset"].to_pylist(), table["label_space"].to_pylist(), strict=True
    ):
        spaces.setdefault(dataset, space)
    rows = []
    for model, entry in sorted(inventory.models.items()):
        for dataset, space in spaces.items():
            if not understands(entry["label_space"], space):
                continue
            benchmark, _, condition = dataset.partition("/")
            row = StatusRow(model, dataset, benchmark, condition, "missing")
            manifest = inventory.manifests.get(dataset)
            if manifest is not None:
                row = replace(row, shards=len(manifest["shards"]), shards_done=0)
            found = current.get((model, dataset))
            if found is not None:
                row = replace(
                    row,
                    state="stale" if found.reason else "done",
                    reason=found.reason or None,
                    shards_done=found.files,
                    run_id=found.run_id,
                    measured=(model, found.run_id) in measured.runs,
                )
            rows.append(_unfinished(row, inventory, entry, manifest))
    return rows + _damaged(rows, inventory, current, measured)


class _Current(NamedTuple):
    """What status tells of a current run."""

    run_id: str
    reason: str
    files: int


def _current(judged: Judged) -> dict[tuple[str, str], _Current]:
    table = judged.table
    columns = [table[name].to_pylist() for name in ("model", "dataset", "run_id")]
    files = pc.list_value_length(table["files"]).to_pylist()
    return {
        (model, dataset): _Current(run_id, reason, n)
        for model, dataset, run_id, reason, n, current in zip(
            *columns, judged.reasons, files, judged.current, strict=True
        )
        if current
    }


def _unfinished(
    row: StatusRow, inventory: Inventory, entry: dict[str, Any], manifest: dict[str, Any] | None
) -> StatusRow:
    if row.state == "done":
        return row
    pair = (row.model, row.dataset)
    done = _progress(inventory.unsealed.get(pair, {}), entry, manifest)
    before = f"; the former result is stale: {row.reason}" if row.state == "stale" else ""
    told = [f"{done} of {row.shards} shards finished"] if done else []
    failure = _failure(inventory.failures.get(pair, {}), entry, manifest)
    if failure is not None:
        reason = "; ".join([failure.reason, failure.remedy, *told])
        return replace(row, state="failed", reason=reason + before, shards_done=done)
    if told:
        return replace(row, state="partial", reason=told[0] + before, shards_done=done)
    if row.state == "stale":
        return row
    if pair in inventory.damaged:
        return replace(row, state="damaged", reason=inventory.damaged[pair])
    if pair in inventory.newer:
        return replace(row, state="newer", reason=inventory.newer[pair])
    if inventory.is_unreadable(paths.manifest(row.dataset)):
        return replace(row, state="damaged", reason="the dataset's manifest cannot be read")
    if manifest is None:
        return replace(row, state="not built", reason="the dataset has no manifest")
    if entry.get("imported"):
        reason = "the model was imported with other results: register it here to run it"
        return replace(row, state="imported", reason=reason)
    return replace(row, reason="never evaluated")


def _failure(
    failures: dict[str, Failure], entry: dict[str, Any], manifest: dict[str, Any] | None
) -> Failure | None:
    # What failed with other weights or another dataset may well succeed with those of now.
    if not failures or manifest is None:
        return None
    today = keys_today(entry, manifest)
    own = [failure for key, failure in failures.items() if key in today]
    return max(own, key=lambda failure: failure.at, default=None)


def _progress(
    shards: dict[str, int], entry: dict[str, Any], manifest: dict[str, Any] | None
) -> int:
    # Shards of an older model or dataset are no beginning of what would be made now.
    if not shards or manifest is None:
        return 0
    return max((shards.get(key, 0) for key in keys_today(entry, manifest)), default=0)


def _damaged(
    rows: list[StatusRow],
    inventory: Inventory,
    current: dict[tuple[str, str], _Current],
    measured: Measured,
) -> list[StatusRow]:
    """What is damaged and stands in no row yet: results without a model, and single files."""
    shown = {(row.model, row.dataset) for row in rows}
    found = []
    for (model, dataset), run in current.items():
        # The results of a model stay in sight when its entry cannot be read.
        if (model, dataset) not in shown and inventory.is_unreadable(paths.model(model)):
            row = _row(model, dataset, run.reason)
            found.append(replace(row, state="stale", run_id=run.run_id))
    for (model, dataset), reason in inventory.damaged.items():
        if (model, dataset) not in shown:
            found.append(_row(model, dataset, reason))
    files = [*inventory.unreadable, *([measured.unreadable] if measured.unreadable else [])]
    return found + [_row(*_about(file), file.reason) for file in files]


def _row(model: str, dataset: str, reason: str) -> StatusRow:
    benchmark, _, condition = dataset.partition("/")
    return StatusRow(model, dataset, benchmark, condition, "damaged", reason)


def _about(file: Unreadable) -> tuple[str, str]:
    folder, _, name = file.path.partition("/")
    if folder == "models":
        return name.removesuffix(".json"), ""
    return "", name.removesuffix("/manifest.json") if folder == "shards" else ""


def _folded(rows: Iterable[StatusRow]) -> list[StatusRow]:
    folded = []
    for (model, benchmark), group in groupby(rows, lambda row: (row.model, row.benchmark)):
        members = list(group)
        if len(members) > 1 and all(row.state == "not built" for row in members):
            reason = f"none of its {len(members)} datasets has a manifest"
            folded.append(StatusRow(model, benchmark, benchmark, "", "not built", reason))
        elif folds(benchmark):
            folded += _by_corruption(members)
        else:
            folded += members
    return folded


def _by_corruption(rows: Iterable[StatusRow]) -> list[StatusRow]:
    folded = []
    for corruption, group in groupby(rows, lambda row: row.condition.partition("/")[0]):
        members = list(group)
        states = Counter(row.state for row in members)
        reasons = sorted({row.reason for row in members if row.reason})
        state = "mixed" if len(states) > 1 else members[0].state
        counts = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        known = [row.measured for row in members if row.measured is not None]
        folded.append(
            StatusRow(
                members[0].model,
                f"{members[0].benchmark}/{corruption}",
                members[0].benchmark,
                corruption,
                state,
                "; ".join([counts, *reasons] if len(states) > 1 else reasons) or None,
                sum(row.shards_done or 0 for row in members),
                sum(row.shards or 0 for row in members),
                None,
                all(known) if known else None,
            )
        )
    return folded


def status_table(rows: Iterable[StatusRow]) -> Table:
    """The rows of :func:`status` as a table for the terminal."""
    table = Table(title="Status", title_justify="left")
    for name in ("model", "dataset", "state", "shards", "metrics", "why"):
        table.add_column(name, overflow="fold")
    for row in rows:
        shards = "" if row.shards is None else f"{row.shards_done}/{row.shards}"
        measured = {True: "current", False: "older than the run", None: ""}[row.measured]
        table.add_row(row.model, row.dataset, row.state, shards, measured, row.reason or "")
    return table
