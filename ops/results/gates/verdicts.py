"""The gates: every candidate against its baseline, benchmark by benchmark, with a verdict.

Here: which numbers are needed, whether they can be had, and what follows from them. The numbers
themselves are of :mod:`ops.results.comparison.measure`, what is demanded of
:mod:`ops.results.gates.stated`.
"""

from __future__ import annotations

import hashlib
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
from ops.results.comparison.measure import DEFINITIONS, Difference, differences
from ops.results.comparison.quantities import Quantity, by_benchmark
from ops.results.comparison.runs import CurrentRuns, Pairing
from ops.results.comparison.table import clean_of
from ops.results.gates.environment import environment_changes
from ops.results.gates.file import GATE, read_gate, write_gate
from ops.results.gates.stated import Demand, StatedGate, read_gates
from ops.results.gates.waivers import waiver_for
from ops.results.inventory import Inventory, take_inventory
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]


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
        Judge only these; what the table says of others stays as it is.

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
    is significant or larger than the margin; ``inconclusive``, neither; ``waived``, any of the
    other verdicts, accepted for a time; ``missing``, no current runs of both on the same version
    of the dataset. Numbers of runs that have not changed are taken from the last table.
    """
    root = open_root(root)
    inventory = take_inventory(root)
    stated = read_gates(root, by_benchmark(catalog, clean_of(inventory, catalog)))
    wanted = _wanted(stated, inventory, gate, candidate)
    before = read_gate(root)
    known = {row["inputs"]: row for row in before.to_pylist() if row["inputs"]}
    kept: dict[tuple[str, str], list[Row]] = {}
    for row in before.to_pylist():
        kept.setdefault((row["gate"], row["candidate"]), []).append(row)
    rows: list[Row] = []
    with ExitStack() as stack:
        judged = _Judged(root, inventory, catalog, today, known, stack)
        for each in stated:
            for name in each.gate.candidates_among(sorted(inventory.models)):
                if (each.name, name) in wanted:
                    rows += judged.rows(each, name)
                else:
                    rows += kept.get((each.name, name), [])
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


class _Judged:
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
            if quantity in measured:
                pairs = pairing.runs(quantity.datasets)
                row |= measured[quantity]
                row["baseline_run_ids"] = sorted({pair.first.run_id for pair in pairs})
                row["candidate_run_ids"] = sorted({pair.second.run_id for pair in pairs})
                row["environment_changes"] = environment_changes(pairs)
                runs = (run for pair in pairs for run in (pair.first, pair.second))
                row["synthetic"] = any(run.synthetic for run in runs)
            else:
                row["verdict"] = "missing"
                row["reason"] = broken or _why_missing(pairing, quantity)
            rows.append(row)
        tested = [row.get("p_value", np.nan) for row in rows]
        for row, demand, p in zip(rows, stated.demands, holm(tested), strict=True):
            if "verdict" not in row:
                row["p_holm"] = float(p)
                row["verdict"] = judge(
                    row["delta"], row["ci_lo"], demand.margin, row["p_holm"], stated.gate.alpha
                )
                row["reason"] = _reason(row, demand, stated)
            self._waive(row, stated)
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
            inputs[quantity] = _inputs(pairing, quantity, alpha)
            if (old := self._known.get(inputs[quantity])) is not None:
                found[quantity] = {name: old[name] for name in _NUMBERS}
        pending = [quantity for quantity in inputs if quantity not in found]
        if pending:
            measured = differences(self._connection(), pairing, pending, alpha=alpha, named=True)
            for each in measured:
                found[each.quantity] = _numbers(each) | {"inputs": inputs[each.quantity]}
        return found

    def _connection(self) -> duckdb.DuckDBPyConnection:
        # The connection shows the verdicts, so it imports this package.
        from ops.results.connection import open_views

        if self._open is None:
            views = open_views(self._root, self._inventory, self._catalog)
            self._open = self._stack.enter_context(views)
        return self._open

    def _waive(self, row: Row, stated: StatedGate) -> None:
        if row["verdict"] == "pass":
            return
        waiver = waiver_for(
            stated.gate.waivers, row["candidate"], row["benchmark"], row["condition"]
        )
        if waiver is None:
            return
        row["waiver_reason"], row["waiver_by"] = waiver.reason, waiver.by
        row["waiver_expires"] = waiver.expires
        if waiver.counts(self._today):
            row["reason"] = (
                f"{row['verdict']}, waived by {waiver.by} until {waiver.expires} "
                f"({waiver.reason}): {row['reason']}"
            )
            row["verdict"] = "waived"
        else:
            row["reason"] += (
                f"; the waiver of {waiver.by} ({waiver.reason}) expired on {waiver.expires}"
            )


# What is measured, and does not change while the runs do not.
_NUMBERS = (
    "baseline_value", "candidate_value", "delta", "ci_lo", "ci_hi", "ci_method", "n", "n_sources",
    "lost", "gained", "p_value", "p_method", "flipped_classes", "flipped_samples", "inputs",
)  # fmt: skip


def _numbers(found: Difference) -> Row:
    sign = 1 if found.quantity.better == "higher" else -1
    ends = sorted((sign * found.lo, sign * found.hi))
    return {
        "baseline_value": found.first,
        "candidate_value": found.second,
        "delta": sign * (found.second - found.first),
        "ci_lo": ends[0],
        "ci_hi": ends[1],
        "ci_method": found.ci_method,
        "n": found.n,
        "n_sources": found.n_sources,
        "lost": found.lost,
        "gained": found.gained,
        "p_value": found.p,
        "p_method": found.p_method,
        "flipped_classes": list(found.flipped.classes),
        "flipped_samples": list(found.flipped.samples),
    }


def _inputs(pairing: Pairing, quantity: Quantity, alpha: float) -> str:
    """16 hex digits that name everything the numbers of a row are computed from."""
    runs = sorted(
        f"{name} {pair.first.run_id} {pair.second.run_id}"
        for name, pair in ((name, pairing.pairs[name]) for name in quantity.datasets)
    )
    parts = (DEFINITIONS, quantity.name, str(alpha), pairing.first, pairing.second, *runs)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _why_missing(pairing: Pairing, quantity: Quantity) -> str:
    absent = [name for name in quantity.datasets if name not in pairing.pairs]
    if not absent:
        return "there is no image that both could answer"
    more = f", and {len(absent) - 1} more of {len(quantity.datasets)}" if len(absent) > 1 else ""
    return f"{pairing.why_not(absent[0])}{more}"


def _reason(row: Row, demand: Demand, stated: StatedGate) -> str:
    unit = demand.quantity.unit
    delta, worst, margin = row["delta"] / unit, -row["ci_lo"] / unit, demand.margin / unit
    change = (
        f"{abs(delta):.2f} points {'lost' if delta < 0 else 'gained'}" if delta else "no change"
    )
    sure = f"{100 * (1 - stated.gate.alpha / 2):g} %"
    bound = f"a loss of up to {max(worst, 0):.2f} is possible ({sure})"
    if row["verdict"] == "pass":
        return f"{change}; a loss of {max(worst, 0):.2f} or more is ruled out ({sure})"
    if row["verdict"] == "inconclusive":
        return f"{change}; {bound}, the margin is {margin:.2f}"
    why = [f"more than the margin of {margin:.2f}"] if delta < -margin else []
    if row["p_holm"] < stated.gate.alpha:
        why.append(f"significant, p = {row['p_holm']:.2g} over {_tests(stated)}")
    return f"{change}, {', '.join(why)}; {bound}"


def _tests(stated: StatedGate) -> str:
    count = len(stated.demands)
    return "one number" if count == 1 else f"{count} numbers"


def closes(rows: Iterable[Row], *, strict: bool = False) -> bool:
    """Whether verdicts close the gate: any fail or missing; if strict, any inconclusive, too."""
    closing = {"fail", "missing", *(["inconclusive"] if strict else [])}
    return any(row["verdict"] in closing for row in rows)
