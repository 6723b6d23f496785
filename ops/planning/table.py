"""A plan as a table for the terminal, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.table import Table

from ops.planning.downloads import Downloads
from ops.planning.plan import Plan, PlanRow

Number = TypeVar("Number", int, float)

UNKNOWN = "unknown"
NOTHING = "–"


def plan_table(plan: Plan) -> Table:
    """The rows of a plan and, of several, their sum."""
    table = Table(title="What is left to do", title_justify="left", show_footer=len(plan.rows) > 1)
    table.add_column("benchmark", "all", no_wrap=True)
    sealed, datasets = (
        sum(getattr(row, name) for row in plan.rows) for name in ("sealed", "datasets")
    )
    table.add_column("sealed", f"{sealed} of {datasets}")
    table.add_column("samples", _sum([row.images for row in plan.rows], _number), justify="right")
    table.add_column("to download", _to_download(plan.downloads), justify="right")
    table.add_column(
        "shards to write", _sum([row.shards for row in plan.rows], _bytes), justify="right"
    )
    if plan.model is not None:
        known = [row for row in plan.rows if row.understood]
        table.add_column("evaluated", str(sum(row.evaluated for row in known)))
        left = _sum([row.to_evaluate for row in known], _number)
        table.add_column("images to evaluate", left, justify="right")
        seconds = _sum([row.seconds for row in known], _time)
        table.add_column("time", seconds, justify="right")
    for row in plan.rows:
        cells = [
            row.benchmark,
            f"{row.sealed} of {row.datasets}",
            _number(row.images),
            _to_download(row.downloads),
            _bytes(row.shards),
        ]
        table.add_row(*cells, *(_evaluation(row) if plan.model is not None else ()))
    return table


def plan_remarks(plan: Plan, free: int | None) -> list[str]:
    """What does not fit into the table, a line each.

    Parameters
    ----------
    plan : Plan
    free : int or None
        Bytes that are free where the shards would go; None where nobody can tell.
    """
    said = []
    if plan.downloads.by_hand:
        said.append(
            f"By hand: {', '.join(plan.downloads.by_hand)} (shiftlake catalog says how; "
            "sizes not in the sum)."
        )
    if plan.downloads.unsized:
        said.append(f"Of a size nobody states: {', '.join(plan.downloads.unsized)}.")
    needs = dict.fromkeys(parent for row in plan.rows for parent in row.needs)
    if needs:
        shown = ", ".join([*needs][:5]) + (f" and {len(needs) - 5} more" if len(needs) > 5 else "")
        said.append(f"To be built first, and not in this table: {shown}.")
    if free is not None:
        total = plan.downloads.bytes + sum(row.shards or 0 for row in plan.rows)
        more = plan.downloads.by_hand or plan.downloads.unsized
        least = "at least " if more or any(row.shards is None for row in plan.rows) else ""
        fits = "" if total < free else ": it will not fit"
        said.append(f"Disk: {least}{_bytes(total)} to come, {_bytes(free)} free{fits}.")
    if plan.model is not None:
        said.append(
            f"Times: by what {plan.model} did here on {plan.device}; unknown where it did nothing "
            "like it. How long downloads and building take is not recorded."
        )
    return said


def _evaluation(row: PlanRow) -> tuple[str, str, str]:
    if not row.understood:
        return "–", "other labels", "–"
    return f"{row.evaluated}", _number(row.to_evaluate), _time(row.seconds)


def _to_download(files: Downloads) -> str:
    some = [_bytes(files.bytes)] if files.bytes else []
    some += [f"{len(files.unsized)} of unknown size"] if files.unsized else []
    some += [f"{len(files.by_hand)} by hand"] if files.by_hand else []
    return " + ".join(some) or NOTHING


def _sum(values: Sequence[Number | None], text: Callable[[Number | None], str]) -> str:
    """What is known of a sum, and whether more is not."""
    known = [value for value in values if value is not None]
    total = text(sum(known[1:], known[0])) if known else UNKNOWN
    return f"{total} + {UNKNOWN}" if known and len(known) < len(values) else total


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}" if value else NOTHING


def _bytes(value: int | None) -> str:
    if value is None:
        return UNKNOWN
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value} B" if value else NOTHING


def _time(seconds: float | None) -> str:
    """Rounded as an estimate is meant."""
    if seconds is None:
        return UNKNOWN
    if seconds == 0:
        return NOTHING
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
