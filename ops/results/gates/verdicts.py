"""The gates: every candidate against its baseline, benchmark by benchmark, with a verdict.

Here: which numbers are needed, whether they can be had, and what follows from them. The numbers
themselves are of :mod:`ops.results.comparison.measure`, what is demanded of
:mod:`ops.results.gates.stated`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.metrics.holm import holm
from ops.metrics.non_inferiority import judge
from ops.results.comparison.environment import environment_changes
from ops.results.comparison.measure import differences
from ops.results.comparison.quantities import Quantity, by_benchmark
from ops.results.comparison.runs import CurrentRuns, Pairing
from ops.results.comparison.table import clean_of
from ops.results.gates.file import GATE, read_gate, write_gate
from ops.results.gates.numbers import NUMBERS, name_inputs, numbers
from ops.results.gates.reasons import waive, why, why_missing
from ops.results.gates.stated import StatedGate, read_gates
from ops.results.inventory import Inventory, take_inventory
from ops.results.real import DATASET as REAL_LABELS
from ops.storage import Root, open_root, paths
from ops.video.datasets import REVIEWED

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]

# What a row is about, and what it says of the runs behind its numbers.
_NAME = ("benchmark", "condition", "metric", "variant")
_RUNS = ("baseline_run_ids", "candidate_run_ids", "environment_changes", "synthetic")


def run_gates(
    root: Root | str,
    catalog: Catalog,
    today: date,
    *,
    gate: str | None = None,
    candidate: str | None = None,
) -> pa.Table:
    """Judge candidates as ``gates.yaml`` states, and store the verdicts.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    today : date
        Decides which waivers have expired.
    gate, candidate : str, optional
        Measure only these. Others keep their numbers, and are judged by them as the gates are
        stated now.

    Returns
    -------
    pyarrow.Table
        Of the schema ``GATE``, a row a gate, candidate and number it demands, as stored in
        ``results/gate.parquet``; empty where no gate is stated, or no candidate is registered.

    Raises
    ------
    ShiftlakeError
        If ``gates.yaml`` is wrong, or there is no gate or candidate of the names given.

    Notes
    -----
    Verdicts: ``pass``, a loss of the margin or more is ruled out; ``fail``, it is not, and the loss
    is significant or larger than the margin; ``inconclusive``, neither; ``waived``, either of the
    last two, accepted for a time; ``missing``, no current runs of both on the same version of the
    dataset, which a waiver accepts only if it says so, or another baseline than the gate is about,
    which none accepts. Numbers of runs that have not changed are taken from the last table.
    """
    root = open_root(root)
    inventory = take_inventory(root)
    stated = read_gates(root, by_benchmark(catalog, clean_of(inventory, catalog)))
    wanted = _wanted(stated, inventory, gate, candidate)
    before = read_gate(root)
    stored = before.to_pylist()
    known = {row["inputs"]: row for row in stored if row["inputs"]}
    kept: dict[tuple[str, str], list[Row]] = {}
    for row in stored:
        kept.setdefault((row["gate"], row["candidate"]), []).append(row)
    rows: list[Row] = []
    with ExitStack() as stack:
        judged = _Judge(root, inventory, catalog, today, known, stack)
        for each in stated:
            for name in each.gate.candidates_among(sorted(inventory.models)):
                if (each.name, name) in wanted:
                    rows += judged.rows(each, name)
                elif own := kept.get((each.name, name)):
                    rows += judged.kept_rows(each, name, own)
    table = pa.Table.from_pylist(
        [{name: row.get(name) for name in GATE.names} for row in rows], schema=GATE
    )
    if rows or before.num_rows:
        write_gate(root, table)
    return table


def _wanted(
    stated: list[StatedGate], inventory: Inventory, gate: str | None, candidate: str | None
) -> set[tuple[str, str]]:
    models = sorted(inventory.models)
    gates = [each for each in stated if gate in (None, each.name)]
    if gate is not None and not gates:
        raise _unknown("gate", gate, [each.name for each in stated], paths.gates())
    pairs = {(each.name, name) for each in gates for name in each.gate.candidates_among(models)}
    if candidate is None:
        return pairs
    own = {pair for pair in pairs if pair[1] == candidate}
    if not own:
        raise _unknown("candidate", candidate, sorted({name for _, name in pairs}), paths.gates())
    return own


def _unknown(what: str, name: str, known: list[str], where: str) -> ShiftlakeError:
    near = get_close_matches(name, known, 3, 0.5) or known[:10]
    return ShiftlakeError(
        f"There is no {what} of this name.",
        expected=f"one of {', '.join(near)}" if near else f"a {what}, and none is stated",
        found=name,
        where=where,
        remedy="shiftlake gate init writes an example; shiftlake model list names the models",
    )


class _Judge:
    """Rows of the table, with one connection for all that has to be measured."""

    def __init__(
        self,
        root: Root,
        inventory: Inventory,
        catalog: Catalog,
        today: date,
        known: dict[str, Row],
        stack: ExitStack,
    ) -> None:
        self._root, self._inventory, self._catalog = root, inventory, catalog
        self._today, self._known, self._stack = today, known, stack
        self._runs = CurrentRuns(inventory)
        self._open: duckdb.DuckDBPyConnection | None = None

    def rows(self, stated: StatedGate, candidate: str) -> list[Row]:
        """All rows of one candidate at one gate."""
        pairing = self._runs.pair(stated.gate.baseline.model, candidate)
        broken = self._broken_baseline(stated)
        measured = {} if broken else self._measured(stated, pairing)
        found: dict[Quantity, Row] = {}
        for quantity, own in measured.items():
            pairs = pairing.runs(quantity.datasets)
            runs = [run for pair in pairs for run in (pair.first, pair.second)]
            found[quantity] = own | {
                "baseline_run_ids": sorted({pair.first.run_id for pair in pairs}),
                "candidate_run_ids": sorted({pair.second.run_id for pair in pairs}),
                "environment_changes": environment_changes(pairs),
                "synthetic": any(run.synthetic for run in runs),
            }
        missing = {
            each.quantity: why_missing(pairing, each.quantity)
            for each in stated.demands
            if each.quantity not in found
        }
        return self._judged(stated, candidate, found, missing, broken)

    def kept_rows(self, stated: StatedGate, candidate: str, own: list[Row]) -> list[Row]:
        """The rows of one candidate from their stored numbers, as the gate is stated now."""
        before = {tuple(row[name] for name in _NAME): row for row in own}
        found: dict[Quantity, Row] = {}
        missing: dict[Quantity, str] = {}
        pairing = self._runs.pair(stated.gate.baseline.model, candidate)
        for quantity in (demand.quantity for demand in stated.demands):
            row = before.get(tuple(getattr(quantity, name) for name in _NAME))
            # An interval holds for its alpha, and a difference for its baseline.
            stands = (
                row is not None
                and row["delta"] is not None
                and (
                    (row["baseline"], row["alpha"])
                    == (stated.gate.baseline.model, stated.gate.alpha)
                )
            )
            if row is not None and stands:
                found[quantity] = {name: row[name] for name in (*NUMBERS, *_RUNS)}
            elif set(quantity.datasets) <= pairing.pairs.keys():
                missing[quantity] = (
                    f"not measured as the gate is stated now: shiftlake gate {stated.name}"
                )
            else:
                missing[quantity] = why_missing(pairing, quantity)
        return self._judged(stated, candidate, found, missing, self._broken_baseline(stated))

    def _judged(
        self,
        stated: StatedGate,
        candidate: str,
        found: dict[Quantity, Row],
        missing: dict[Quantity, str],
        broken: str | None,
    ) -> list[Row]:
        """Rows in the order of the demands; nothing found of a broken baseline counts."""
        rows = []
        for demand in stated.demands:
            quantity = demand.quantity
            row: Row = {
                "gate": stated.name,
                "candidate": candidate,
                "baseline": stated.gate.baseline.model,
                "benchmark": quantity.benchmark,
                "condition": quantity.condition,
                "metric": quantity.metric,
                "variant": quantity.variant,
                "better": quantity.better,
                "alpha": stated.gate.alpha,
                "margin": demand.margin,
                "flipped_classes": [],
                "flipped_samples": [],
                "environment_changes": [],
            }
            if broken is None and quantity in found:
                row |= found[quantity]
            else:
                row |= {"verdict": "missing", "reason": broken or missing[quantity]}
            rows.append(row)
        # What is missing counts, too: no verdict depends on what else has been run.
        tested = holm([row.get("p_value", 1.0) for row in rows])
        for row, demand, p in zip(rows, stated.demands, tested.tolist(), strict=True):
            if "verdict" not in row:
                row["p_holm"] = p
                lo = np.nan if row["ci_lo"] is None else row["ci_lo"]
                row["verdict"] = judge(row["delta"], lo, demand.margin, p, stated.gate.alpha)
                row["reason"] = why(row, demand, stated)
            if broken is None:
                waive(row, stated.gate.waivers, self._today)
        return rows

    def _broken_baseline(self, stated: StatedGate) -> str | None:
        baseline = stated.gate.baseline
        entry = self._inventory.models.get(baseline.model)
        if entry is None:
            return f"the baseline {baseline.model} is not registered"
        found = (entry.get("weights") or {}).get("sha256")
        pinned = baseline.weights_sha256
        if pinned is None or (found or "").startswith(pinned):
            return None
        has = f"weights {found[:12]}" if found else "no weights"
        return (
            f"the baseline {baseline.model} has been replaced: it has {has}, "
            f"the gate is about {pinned[:12]}"
        )

    def _measured(self, stated: StatedGate, pairing: Pairing) -> dict[Quantity, Row]:
        alpha = stated.gate.alpha
        found: dict[Quantity, Row] = {}
        inputs: dict[Quantity, str] = {}
        for demand in stated.demands:
            quantity = demand.quantity
            if not set(quantity.datasets) <= pairing.pairs.keys():
                continue
            # A dataset of labels alone, if this is measured by one.
            labels = REAL_LABELS
            if quantity.benchmark == REVIEWED:
                labels = f"{REVIEWED}/{quantity.condition}"
            version = self._inventory.manifests.get(labels, {}).get("version")
            inputs[quantity] = name_inputs(pairing, quantity, alpha, version)
            if (old := self._known.get(inputs[quantity])) is not None:
                found[quantity] = {name: old[name] for name in NUMBERS}
        pending = [quantity for quantity in inputs if quantity not in found]
        if pending:
            measured = differences(self._connection(), pairing, pending, alpha=alpha, named=True)
            for each in measured:
                found[each.quantity] = numbers(each, inputs[each.quantity])
        return found

    def _connection(self) -> duckdb.DuckDBPyConnection:
        # The connection shows the verdicts, so it imports this package.
        from ops.results.connection import open_views

        if self._open is None:
            views = open_views(self._root, self._inventory, self._catalog)
            self._open = self._stack.enter_context(views)
        return self._open


def closes(rows: Iterable[Row], *, strict: bool = False) -> bool:
    """Whether verdicts close the gate: any fail or missing; if strict, any inconclusive, too."""
    closing = {"fail", "missing", *(["inconclusive"] if strict else [])}
    return any(row["verdict"] in closing for row in rows)
