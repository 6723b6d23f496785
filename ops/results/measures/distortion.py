"""DeepCorrect's distorted sets: accuracy over the levels of a distortion, clean included."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics import average_accuracy_7
from ops.metrics.distortion import LEVELS
from ops.results.inventory import Run
from ops.results.measures.cells import CLEAN, Cell, cell_of, measured
from ops.results.measures.source import Source
from ops.results.measures.unit import Row, Unit


def distorted(source: Source, units: list[Unit]) -> list[Row]:
    """Average over clean and the six levels of each distortion; the last run is the clean one."""
    rows: list[Row] = []
    wanted: list[tuple[Unit, dict[Cell, Run]]] = []
    names: list[str] = []
    for unit in units:
        *levels, clean = unit.runs
        runs = {cell_of(run.condition): run for run in levels}
        for name in sorted({name for name, _ in runs}):
            own = {(name, level): runs[name, level] for level in LEVELS if (name, level) in runs}
            wanted.append((unit, {CLEAN: clean, **own}))
            names.append(name)
    found = measured(source, wanted)
    for name, means in zip(names, found, strict=True):
        if len(means.values) != len(LEVELS) + 1:
            continue

        def average(error: Mapping[Cell, ArrayLike], name: str = name) -> NDArray[np.float64]:
            accuracy = {cell: 1 - np.asarray(value) for cell, value in error.items()}
            return average_accuracy_7(accuracy[CLEAN], {s: accuracy[name, s] for s in LEVELS})

        rows += means.rows("avg_top1_7", "clean + 6 levels", name, average)
    return rows
