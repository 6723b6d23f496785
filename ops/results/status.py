"""Every model on every dataset it can be evaluated on: done, missing, partial or stale, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from rich.table import Table

from ops.catalog import Catalog
from ops.catalog.classes import VIDEO_LABEL_SPACES
from ops.results.currency import Standing, standings
from ops.results.inventory import Inventory, take_inventory
from ops.results.metrics_file import read_metrics
from ops.storage import Root, open_root

# Benchmarks whose conditions are corruptions with severities inside.
_GROUPED = ("imagenet_c", "mini_imagenet_c")


@dataclass(frozen=True)
class StatusRow:
    """One model on one dataset.

    Parameters
    ----------
    state : str
        ``done``, ``stale``, ``partial``, ``missing``, ``damaged`` or ``not built``.
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
        One row a corruption instead of one a severity.

    Returns
    -------
    list of StatusRow
        Sorted by model, then in catalog order.
    """
    root = open_root(root)
    inventory = take_inventory(root)
    rows = status_rows(inventory, standings(inventory), catalog, read_metrics(root).runs)
    return _by_corruption(rows) if compact else rows


def status_rows(
    inventory: Inventory,
    judged: Iterable[Standing],
    catalog: Catalog,
    measured: frozenset[str],
) -> list[StatusRow]:
    """Status from what is already read; `measured` are the runs behind the metrics."""
    current = {(s.run.model, s.run.dataset): s for s in judged if s.current}
    spaces = {name: spec.label_space for name, spec in catalog.datasets.items() if spec.evaluate}
    for run in inventory.runs:
        spaces.setdefault(run.dataset, run.label_space)
    rows = []
    for model, entry in sorted(inventory.models.items()):
        for dataset, space in spaces.items():
            if not _compatible(entry["label_space"], space):
                continue
            benchmark, _, condition = dataset.partition("/")
            row = StatusRow(model, dataset, benchmark, condition, "missing")
            manifest = inventory.manifests.get(dataset)
            if manifest is not None:
                row = replace(row, shards=len(manifest["shards"]), shards_done=0)
            standing = current.get((model, dataset))
            if standing is not None:
                run_id = standing.run.run_id
                row = replace(
                    row,
                    state="stale" if standing.stale else "done",
                    reason="; ".join(standing.reasons) or None,
                    shards_done=len(standing.run.files),
                    run_id=run_id,
                    measured=run_id in measured,
                )
            rows.append(_unfinished(row, inventory, manifest))
    return rows


def _unfinished(row: StatusRow, inventory: Inventory, manifest: dict[str, Any] | None) -> StatusRow:
    if row.state == "done":
        return row
    pair = (row.model, row.dataset)
    if pair in inventory.unsealed and manifest is not None:
        done, shards = inventory.unsealed[pair], len(manifest["shards"])
        reason = f"{done} of {shards} shards finished"
        before = f"; the former result is stale: {row.reason}" if row.state == "stale" else ""
        return replace(row, state="partial", reason=reason + before, shards_done=done)
    if row.state == "stale":
        return row
    if pair in inventory.damaged:
        return replace(row, state="damaged", reason=f"{inventory.damaged[pair]} is missing")
    if manifest is None:
        return replace(row, state="not built", reason="the dataset has no manifest")
    return replace(row, reason="never evaluated")


def _compatible(model: str, dataset: str) -> bool:
    return model == dataset or (model == "ilsvrc1000" and dataset in VIDEO_LABEL_SPACES)


def _by_corruption(rows: Iterable[StatusRow]) -> list[StatusRow]:
    folded = []
    for (model, benchmark, corruption), group in groupby(rows, _group):
        members = list(group)
        if benchmark not in _GROUPED:
            folded += members
            continue
        states = Counter(row.state for row in members)
        reasons = sorted({row.reason for row in members if row.reason})
        state = "mixed" if len(states) > 1 else members[0].state
        counts = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        known = [row.measured for row in members if row.measured is not None]
        folded.append(
            StatusRow(
                model,
                f"{benchmark}/{corruption}",
                benchmark,
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


def _group(row: StatusRow) -> tuple[str, str, str]:
    name = row.condition.partition("/")[0] if row.benchmark in _GROUPED else row.condition
    return row.model, row.benchmark, name


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
