"""DeepCorrect's distorted sets: accuracy over the levels of a distortion, clean included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.metrics import average_accuracy_7
from ops.metrics.distortion import LEVELS
from ops.results.measures.cells import Cells, cell_of
from ops.results.measures.unit import Row, Unit

if TYPE_CHECKING:
    import duckdb

_CLEAN = ("clean", 0)


def distorted(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Average over clean and the six levels of each distortion; the last run is the clean one."""
    rows = []
    for unit in units:
        *levels, clean = unit.runs
        runs = {cell_of(run.condition): run for run in levels}
        for distortion in sorted({name for name, _ in runs}):
            chosen = {(distortion, level): runs.get((distortion, level)) for level in LEVELS}
            own = {cell: run for cell, run in chosen.items() if run is not None}
            measured = Cells(connection, unit, {_CLEAN: clean, **own})
            accuracy = {cell: 1 - error for cell, error in measured.errors.items()}
            if len(accuracy) != len(LEVELS) + 1:
                continue
            value = average_accuracy_7(
                accuracy[_CLEAN], {level: accuracy[distortion, level] for level in LEVELS}
            )
            less = dict.fromkeys(accuracy, -1 / len(accuracy))
            rows.append(measured.row("avg_top1_7", "clean + 6 levels", value, less, distortion))
    return rows
