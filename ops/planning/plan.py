"""What is left of building some datasets, and of evaluating a model on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from ops.catalog import Catalog, DatasetSpec
from ops.catalog.classes import understands
from ops.planning.downloads import Downloads, downloads, files_to_build
from ops.planning.pace import Pace, recorded_pace
from ops.planning.size import shard_bytes
from ops.results.currency import judge
from ops.results.inventory import take_inventory
from ops.results.metrics_file import read_metrics
from ops.results.status import StatusRow, status_rows
from ops.shards import has_manifest, read_manifest
from ops.storage import Root, open_root

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class PlanRow:
    """What is left of one benchmark.

    Parameters
    ----------
    benchmark : str
        First part of its datasets' names.
    datasets, sealed : int
        Those asked for, and those of them that are sealed.
    images : int or None
        In all of them, a sequence counted as one; None where a count is unknown.
    downloads : Downloads
        Files that are not here and would be needed. A file of several benchmarks is in each.
    shards : int or None
        Bytes that are still to be written; about as many.
    needs : tuple of str
        Datasets that have to be built first, and were not asked for.
    to_evaluate : int or None
        Images or frames the model has not seen, or only in another version; None without a model,
        where its label space is another, and where a count is unknown.
    evaluated : int
        Datasets on which the model is done.
    seconds : float or None
        That evaluating them takes, by what was recorded of this model on this kind of device;
        None where nothing like it was.
    understood : bool
        Whether the model knows the labels; True without a model.
    """

    benchmark: str
    datasets: int
    sealed: int
    images: int | None
    downloads: Downloads
    shards: int | None
    needs: tuple[str, ...]
    to_evaluate: int | None = None
    evaluated: int = 0
    seconds: float | None = None
    understood: bool = True


@dataclass(frozen=True)
class Plan:
    """What is left, by benchmark.

    Parameters
    ----------
    rows : tuple of PlanRow
        In catalog order.
    downloads : Downloads
        Of all rows, every file once.
    model, device : str or None
        What the times are of.
    """

    rows: tuple[PlanRow, ...]
    downloads: Downloads
    model: str | None = None
    device: str | None = None


def plan(
    root: Root | str,
    catalog: Catalog,
    names: Sequence[str],
    *,
    model: str | None = None,
    device: str = "cpu",
) -> Plan:
    """What is left of building datasets, and of evaluating a model on them.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    names : sequence of str
        Datasets, in catalog order.
    model : str, optional
        A registered model.
    device : str
        Kind of device it would run on, ``cpu`` or ``cuda``.

    Raises
    ------
    ShiftlakeError
        If a dataset is not in the catalog, or a manifest or receipt cannot be read.
    """
    root = open_root(root)
    specs = [catalog.dataset(name) for name in names]
    asked = {spec.name for spec in specs}
    states: dict[str, StatusRow] = {}
    pace = Pace({}, {})
    space = None
    if model is not None:
        inventory = take_inventory(root)
        space = str(inventory.models[model]["label_space"])
        rows = status_rows(inventory, judge(inventory), catalog, read_metrics(root))
        states = {row.dataset: row for row in rows if row.model == model}
        pace = recorded_pace(inventory, catalog.datasets, model, device)
    planned = []
    for family, group in groupby(specs, lambda spec: spec.family):
        members = list(group)
        row = _built(root, catalog, family, members, asked)
        if space is not None:
            row = _evaluated(root, row, members, states, pace, space)
        planned.append(row)
    files = {
        (file.benchmark, file.id): file
        for name in asked
        for file in files_to_build(root, catalog, name)
    }
    return Plan(tuple(planned), downloads(root, files.values()), model, device if model else None)


def _added(values: Iterable[Number | None]) -> Number | None:
    """The sum, None where one is unknown."""
    known: list[Number] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known[1:], known[0]) if known else None


def _built(
    root: Root, catalog: Catalog, family: str, members: list[DatasetSpec], asked: set[str]
) -> PlanRow:
    missing = [spec for spec in members if not has_manifest(root, spec.name)]
    files = {
        (file.benchmark, file.id): file
        for spec in missing
        for file in files_to_build(root, catalog, spec.name)
    }
    needs = {
        parent: None
        for spec in missing
        for parent in (catalog.dataset(name).name for name in spec.derived_from)
        if parent not in asked and not has_manifest(root, parent)
    }
    return PlanRow(
        benchmark=family,
        datasets=len(members),
        sealed=len(members) - len(missing),
        images=_added(_samples(root, spec) for spec in members),
        downloads=downloads(root, files.values()),
        shards=_added([0, *(shard_bytes(root, catalog, spec.name) for spec in missing)]),
        needs=tuple(needs),
    )


def _evaluated(
    root: Root,
    row: PlanRow,
    members: list[DatasetSpec],
    states: dict[str, StatusRow],
    pace: Pace,
    space: str,
) -> PlanRow:
    known = [spec for spec in members if spec.evaluate and understands(space, spec.label_space)]
    if not known:
        return replace(row, understood=False)
    left = [_left(root, spec, states.get(spec.name)) for spec in known]
    rates = [pace.on(spec) for spec in known]
    return replace(
        row,
        evaluated=sum(number == 0 for number in left),
        to_evaluate=_added(left),
        seconds=_added(
            0.0 if number == 0 else number / rate if number and rate else None
            for number, rate in zip(left, rates, strict=True)
        ),
    )


def _left(root: Root, spec: DatasetSpec, state: StatusRow | None) -> int | None:
    """Images or frames of a dataset that the model is still to see."""
    if state is not None and state.state == "done":
        return 0
    samples = _samples(root, spec)
    if samples is None:
        return None
    rows = samples * int(spec.parameters.get("frames", 1))
    if state is not None and state.shards and state.shards_done and state.state == "partial":
        return round(rows * (1 - state.shards_done / state.shards))
    return rows


def _samples(root: Root, spec: DatasetSpec) -> int | None:
    sealed = has_manifest(root, spec.name)
    return read_manifest(root, spec.name).n_samples if sealed else spec.expected
