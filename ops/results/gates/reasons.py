"""Why a verdict is what it is, in a sentence, and what a waiver makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from ops.results.comparison.quantities import Quantity
from ops.results.comparison.runs import Pairing
from ops.results.gates.stated import Demand, StatedGate
from ops.results.gates.waivers import Waiver, waiver_for


def why_missing(pairing: Pairing, quantity: Quantity) -> str:
    """Why a quantity could not be measured."""
    absent = [name for name in quantity.datasets if name not in pairing.pairs]
    if not absent:
        return "there is no image that both could answer"
    more = f", and {len(absent) - 1} more of {len(quantity.datasets)}" if len(absent) > 1 else ""
    return f"{pairing.why_not(absent[0])}{more}"


def why(row: dict[str, Any], demand: Demand, stated: StatedGate) -> str:
    """What was lost or gained, what is ruled out, and why that is not enough."""
    unit = demand.quantity.unit
    delta, margin = row["delta"] / unit, demand.margin / unit
    change = (
        f"{abs(delta):.2f} points {'lost' if delta < 0 else 'gained'}" if delta else "no change"
    )
    sure = f"{100 * (1 - stated.gate.alpha / 2):g} %"
    if row["ci_lo"] is None:
        bound = "no interval, since no resample differs from another"
    else:
        worst = max(-row["ci_lo"] / unit, 0)
        if row["verdict"] == "pass":
            return f"{change}; a loss of {worst:.2f} or more is ruled out ({sure})"
        bound = f"a loss of up to {worst:.2f} is possible ({sure})"
    if row["verdict"] == "inconclusive":
        return f"{change}; {bound}, the margin is {margin:.2f}"
    reasons = [f"more than the margin of {margin:.2f}"] if delta < -margin else []
    if row["p_holm"] < stated.gate.alpha:
        count = len(stated.demands)
        tests = "one number" if count == 1 else f"{count} numbers"
        reasons.append(f"significant, p = {row['p_holm']:.2g} over {tests}")
    return f"{change}, {', '.join(reasons)}; {bound}"


def waive(row: dict[str, Any], waivers: Sequence[Waiver], today: date) -> None:
    """Apply the waiver of a row, in place, or say why it is not applied.

    A pass needs none, and a missing verdict has one only where the waiver says so.
    """
    if row["verdict"] == "pass":
        return
    missing = row["verdict"] == "missing"
    waiver = waiver_for(
        waivers, row["candidate"], row["benchmark"], row["condition"], missing=missing
    )
    if waiver is None:
        return
    row["waiver_reason"], row["waiver_by"] = waiver.reason, waiver.by
    row["waiver_expires"] = waiver.expires
    said = f"the waiver of {waiver.by} ({waiver.reason})"
    if not waiver.counts(today):
        row["reason"] += f"; {said} expired on {waiver.expires}"
    elif missing and not waiver.missing:
        row["reason"] += f"; {said} accepts a loss, not a missing run: it has no missing: true"
    else:
        row["reason"] = (
            f"{row['verdict']}, waived by {waiver.by} until {waiver.expires} "
            f"({waiver.reason}): {row['reason']}"
        )
        row["verdict"] = "waived"
