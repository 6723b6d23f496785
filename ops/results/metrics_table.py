"""The table of metrics: what is missing is computed from rows, what stands is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.metrics import forget_draws
from ops.results.compaction import compact
from ops.results.connection import open_views
from ops.results.currency import Judged, judge
from ops.results.families import CORRUPTED, MINI_CORRUPTED, PERTURBED, VIDEO, distorted
from ops.results.history import keep_history
from ops.results.inventory import Inventory, Run, take_inventory
from ops.results.measures import (
    calibration,
    corruption,
    counts,
    detection,
    distortion,
    perturbation,
    video,
)
from ops.results.measures.source import Known, Source, pair
from ops.results.measures.unit import Row, Unit
from ops.results.metrics_file import METRICS, Measured, read_metrics, write_metrics
from ops.results.real import DATASET as REAL
from ops.storage import Root, open_root
from ops.video.datasets import MINED, REVIEWED

Measure = Callable[[Source, list[Unit]], list[Row]]

MEASURES: dict[str, Measure] = {
    "accuracy": counts.accuracies,
    "real": counts.reassessed,
    "per_class": counts.per_class,
    "calibration": calibration.calibration,
    "detection": detection.detection,
    "pm_k": video.pm_k,
    "reviewed_pm_k": video.reviewed_pm_k,
    "imagenet_c": corruption.imagenet_c,
    "mini_imagenet_c": corruption.mini_imagenet_c,
    "imagenet_p": perturbation.imagenet_p,
    "distorted": distortion.distorted,
}

# Of sources of one's own, whose tables may be damaged or behind: one that cannot be measured costs
# the others nothing.
APART = ("pm_k", "reviewed_pm_k")

# Families of which some metrics are divided by those of an AlexNet.
NORMALISED = ("imagenet_c", "mini_imagenet_c", "imagenet_p")

_ORDER = ("model", "benchmark", "condition", "metric", "variant")


def compute_metrics(root: Root | str, catalog: Catalog) -> pa.Table:
    """Bring ``results/metrics.parquet`` up to date with the current runs.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog

    Returns
    -------
    pyarrow.Table
        All metrics of all models, sorted. No image is read and no model is run; rows whose
        inputs are unchanged are kept, and where all are, nothing is written.

    Raises
    ------
    ShiftlakeError
        If rows contradict what is sealed. Where it is frame sets that cannot be measured, all else
        is measured and stored by then.

    Notes
    -----
    What was evaluated since the last time is compacted first: it is read several times from here
    on, and by everyone who asks in SQL. Where that cannot be done, the answers are the same.
    """
    root = open_root(root)
    # A cache: that a disk is full, or nothing may be written there, is no reason for no answer.
    with suppress(OSError, ShiftlakeError):
        compact(root)
    inventory = take_inventory(root)
    judged = judge(inventory)
    units = plan(inventory, judged)
    before = read_metrics(root)
    wanted = frozenset(unit.inputs for unit in units)
    if before.inputs == wanted and before.unreadable is None:
        # Of a lake that an older release measured; who may only read it still has its answers.
        with suppress(OSError):
            keep_history(root, inventory, METRICS.empty_table(), before.table)
        return before.table
    pending = [unit for unit in units if unit.inputs not in before.inputs]
    kept = pc.is_in(before.table["inputs"], value_set=pa.array(sorted(wanted), pa.string()))
    rows, failed = _measure(root, inventory, catalog, judged, pending) if pending else ([], {})
    wanted -= failed.keys()
    computed = pa.Table.from_pylist(
        [{name: row.get(name) for name in METRICS.names} for row in rows], schema=METRICS
    )
    # One piece in one order: the bytes say nothing of what was kept and what was computed.
    table = pa.concat_tables([before.table.filter(kept).cast(METRICS), computed])
    table = table.sort_by([(name, "ascending") for name in _ORDER]).combine_chunks()
    done = [unit for unit in units if unit.inputs in wanted]
    runs = frozenset((run.model, run.run_id) for unit in done for run in unit.runs)
    # First: a number that was once shown is never forgotten.
    keep_history(root, inventory, computed, table)
    write_metrics(root, Measured(table, runs, wanted))
    for error in failed.values():
        raise error
    return table


def plan(inventory: Inventory, judged: Judged) -> list[Unit]:
    """Every family of metrics that the current runs allow."""
    models: dict[str, dict[str, Run]] = defaultdict(dict)
    for run, current in zip(inventory.runs, judged.current, strict=True):
        if current:
            models[run.model][run.dataset] = run
    real = inventory.manifests.get(REAL, {}).get("version")
    normalisers = [
        runs
        for model, runs in sorted(models.items())
        if inventory.models.get(model, {}).get("normaliser")
    ]
    units = []
    for _, runs in sorted(models.items()):
        units += _plan_runs(runs)
        units += _plan_reviews(inventory, runs)
        own = _plan_benchmarks(runs, _clean_of(inventory, runs), real)
        units += [_over(unit, normalisers) for unit in own]
    return units


def _plan_runs(runs: dict[str, Run]) -> list[Unit]:
    """What is measured run by run."""
    units = []
    for run in runs.values():
        if run.benchmark in VIDEO:
            units.append(Unit("pm_k", (run,)))
        elif run.benchmark not in PERTURBED:
            units.append(Unit("accuracy", (run,)))
            if run.benchmark not in (*CORRUPTED, *MINI_CORRUPTED):
                units += [Unit("per_class", (run,)), Unit("calibration", (run,))]
    return units


def _plan_reviews(inventory: Inventory, runs: dict[str, Run]) -> list[Unit]:
    """What is measured of reviewed frame sets, from predictions on the mining that was reviewed."""
    units = []
    for run in runs.values():
        if run.benchmark != MINED:
            continue
        review = inventory.manifests.get(f"{REVIEWED}/{run.condition}")
        of = {} if review is None else review.get("parameters") or {}
        if review is not None and of.get("mined_version") == run.dataset_version:
            units.append(Unit("reviewed_pm_k", (run,), review["version"]))
    return units


def _plan_benchmarks(
    runs: dict[str, Run], clean_of: dict[str, Run], real: str | None
) -> list[Unit]:
    """What is measured over the conditions of a benchmark, or with clean images beside it."""
    units = []
    val = runs.get("imagenet_1k/val")
    clean = () if val is None else (val,)
    if val is not None and real is not None:
        units.append(Unit("real", (val,), real))
    if val is not None and "imagenet_o/clean" in runs:
        units.append(Unit("detection", (runs["imagenet_o/clean"], val)))
    of = defaultdict(list)
    for run in runs.values():
        of[run.benchmark].append(run)
    for benchmark, cells in of.items():
        if benchmark in CORRUPTED:
            units.append(Unit("imagenet_c", (*cells, *clean)))
        elif benchmark in MINI_CORRUPTED:
            units.append(Unit("mini_imagenet_c", tuple(cells)))
        elif benchmark in PERTURBED:
            units.append(Unit("imagenet_p", tuple(cells)))
        elif distorted(benchmark) and benchmark in clean_of:
            units.append(Unit("distorted", (*cells, clean_of[benchmark])))
    return units


def _over(unit: Unit, normalisers: list[dict[str, Run]]) -> Unit:
    """The unit over those runs of every normaliser that saw the very same datasets."""
    if unit.family not in NORMALISED:
        return unit
    same = (
        tuple(
            run
            for own in unit.runs
            if (run := runs.get(own.dataset)) and run.dataset_version == own.dataset_version
        )
        for runs in normalisers
    )
    return replace(unit, normalisers=tuple(runs for runs in same if runs))


def _clean_of(inventory: Inventory, runs: dict[str, Run]) -> dict[str, Run]:
    """The run on the clean images of every distorted benchmark, as its manifests name them."""
    found = {}
    for run in runs.values():
        renderer = inventory.manifests.get(run.dataset, {}).get("renderer") or {}
        if distorted(run.benchmark) and renderer.get("source") in runs:
            found[run.benchmark] = runs[renderer["source"]]
    return found


def _measure(
    root: Root, inventory: Inventory, catalog: Catalog, judged: Judged, units: list[Unit]
) -> tuple[list[Row], dict[str, ShiftlakeError]]:
    """Rows of the units, and what is wrong with others by their inputs.

    Model by model: each has a connection with its own files alone.
    """
    import duckdb

    # The same inventory: a run sealed meanwhile must not take the place of a planned one.
    place = {name: i for i, name in enumerate(zip(*_names(judged), strict=True))}
    table = judged.table.combine_chunks()
    by_model: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_model[unit.model].append(unit)
    rows: list[Row] = []
    failed: dict[str, ShiftlakeError] = {}
    known = Known()
    try:
        for own in by_model.values():
            over = [run for unit in own for runs in unit.normalisers for run in runs]
            held = {pair(run) for unit in own for run in unit.runs}
            held |= {pair(run) for run in over if not known.has(run)}
            places = sorted(place[name] for name in held)
            some = Judged(
                table.take(pa.array(places, pa.int64())),
                [judged.current[i] for i in places],
                [judged.reasons[i] for i in places],
            )
            with open_views(root, inventory, catalog, judged=some) as connection:
                source = Source(connection, known)
                for family, measure in MEASURES.items():
                    of_family = [unit for unit in own if unit.family == family]
                    if family in APART:
                        for unit in of_family:
                            try:
                                rows += measure(source, [unit])
                            except ShiftlakeError as error:
                                failed[unit.inputs] = error
                            except duckdb.Error as error:
                                failed[unit.inputs] = _unmeasured(unit.runs[0], error)
                    elif of_family:
                        rows += measure(source, of_family)
                source.keep(over)
    finally:
        forget_draws()
    return rows, failed


def _unmeasured(run: Run, error: Exception) -> ShiftlakeError:
    """What DuckDB says of a table of videos or reviews that it was refused."""
    return ShiftlakeError(
        "Frame sets cannot be measured; all else is.",
        expected="the tables beside the frames as they were sealed",
        found=str(error),
        where=f"{run.model} on {run.dataset}, run {run.run_id}",
        remedy="mine the source again, or freeze its review again: no model has to be run again",
    )


def _names(judged: Judged) -> list[list[str]]:
    return [judged.table[name].to_pylist() for name in ("model", "run_id")]
