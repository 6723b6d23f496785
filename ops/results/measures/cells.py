"""Several runs on renderings of the same images, and metrics that are a weighted sum over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ops.metrics import clustered_interval
from ops.metrics.clustered import METHOD
from ops.results.inventory import Run
from ops.results.measures.unit import ALPHA, Row, Unit, run_filter

if TYPE_CHECKING:
    import duckdb

# Bits in one BIGINT; two of them hold the 95 cells of ImageNet-C.
_BITS = 48

# Corruption and severity, or distortion and level.
Cell = tuple[str, int]
Weights = Mapping[Cell, float]


class Cells:
    """Top-1 errors of one model by cell, and the wrong answers of every source image.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    unit : Unit
        The rows are about it.
    runs : mapping of cell to Run
        Runs of the unit's model.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, unit: Unit, runs: Mapping[Cell, Run]
    ) -> None:
        self.unit = unit
        self.errors = errors_of(connection, unit, runs)
        self._cells = sorted(self.errors)
        self._wrong = _wrong_by_source(connection, unit, [(c, runs[c]) for c in self._cells])

    def mean(self, names: tuple[str, ...], severities: tuple[int, ...]) -> dict[str, float] | None:
        """Mean error of each corruption over `severities`; None if any cell is missing."""
        if any((name, s) not in self.errors for name in names for s in severities):
            return None
        return {name: float(np.mean([self.errors[name, s] for s in severities])) for name in names}

    def row(self, metric: str, variant: str, value: float, weights: Weights, condition: str) -> Row:
        """A row whose interval resamples source images: `weights` are those of one wrong cell."""
        if self._wrong is None:
            return self.unit.row(metric, variant, value, condition=condition)
        own = np.array([weights.get(cell, 0.0) for cell in self._cells])
        # Not a matrix product: BLAS may add in another order on the next call.
        score = (self._wrong * own).sum(axis=1)
        return clustered_row(self.unit, metric, variant, value, score, condition)


def clustered_row(
    unit: Unit,
    metric: str,
    variant: str,
    value: float,
    score: NDArray[np.float64],
    condition: str,
) -> Row:
    """A row with the interval of the mean of one score a source image.

    Parameters
    ----------
    unit : Unit
    metric, variant, condition : str
    value : float
        What the metric's formula gives.
    score : ndarray of float, shape (M,)
        Its mean is `value` but for rounding and a constant.
    """
    mean, lo, hi = clustered_interval(score, ALPHA)
    if math.isnan(lo):
        return unit.row(metric, variant, value, condition=condition, n=len(score))
    return unit.row(
        metric,
        variant,
        value,
        condition=condition,
        n=len(score),
        # Every such score is a share or a distance; the normal law does not know that.
        ci_lo=max(0.0, value + (lo - mean)),
        ci_hi=value + (hi - mean),
        ci_method=METHOD,
    )


def cell_of(condition: str) -> Cell:
    """Corruption and severity of a condition; severity 0 where it names none.

    Examples
    --------
    >>> cell_of("fog/3"), cell_of("val")
    (('fog', 3), ('val', 0))
    """
    name, _, severity = condition.rpartition("/")
    return (name, int(severity)) if severity.isdigit() else (condition, 0)


def errors_of(
    connection: duckdb.DuckDBPyConnection, unit: Unit, runs: Mapping[Cell, Run]
) -> dict[Cell, float]:
    """Top-1 error in [0, 1] of each of some runs of a unit."""
    found = connection.execute(
        f"""
        SELECT benchmark || '/' || condition, 1 - k / n FROM counts
        WHERE model = $model AND run_id IN ({run_filter([unit])})
            AND metric = 'top1' AND variant = 'unmasked'
        """,
        {"model": unit.model},
    ).fetchall()
    errors = dict(found)
    return {cell: errors[run.dataset] for cell, run in runs.items() if run.dataset in errors}


def _wrong_by_source(
    connection: duckdb.DuckDBPyConnection, unit: Unit, cells: list[tuple[Cell, Run]]
) -> NDArray[np.float64] | None:
    """Wrong answers, shape (source images, cells); None where the cells' images differ.

    Every cell has a bit of its own, so that millions of rows become one pass that sets bits:
    a column a cell took ten times as long.
    """
    if not cells:
        return None
    bits = [(1 << i, 0) if i < _BITS else (0, 1 << (i - _BITS)) for i in range(len(cells))]
    values = ", ".join(
        f"('{run.benchmark}', '{run.condition}', {low}::BIGINT, {high}::BIGINT)"
        for (_, run), (low, high) in zip(cells, bits, strict=True)
    )
    found = connection.execute(
        f"""
        SELECT count(*) AS renderings, bit_or(low) AS low, bit_or(high) AS high,
            bit_or(CASE WHEN correct IS NOT true THEN low ELSE 0 END) AS wrong_low,
            bit_or(CASE WHEN correct IS NOT true THEN high ELSE 0 END) AS wrong_high
        FROM predictions
        JOIN (VALUES {values}) AS cells (benchmark, condition, low, high)
            USING (benchmark, condition)
        WHERE model = $model AND run_id IN ({run_filter([unit])})
        GROUP BY source_key ORDER BY source_key
        """,
        {"model": unit.model},
    ).fetchnumpy()
    all_low, all_high = (sum(side) for side in zip(*bits, strict=True))
    once = found["renderings"] == len(cells)
    if not (once & (found["low"] == all_low) & (found["high"] == all_high)).all():
        return None
    wrong = [found["wrong_low"], found["wrong_high"]]
    return np.stack(
        [(wrong[i // _BITS] >> (i % _BITS)) & 1 for i in range(len(cells))], axis=1
    ).astype(np.float64)
