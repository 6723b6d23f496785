"""Several runs on renderings of the same images: top-1 errors by cell, and their resamples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.corruption import mean_over
from ops.results.inventory import Run
from ops.results.measures.resampled import Means, Totals, resample
from ops.results.measures.unit import Unit, quoted, run_filter

if TYPE_CHECKING:
    import duckdb

# Bits in one BIGINT; two of them hold the 95 cells of ImageNet-C and the clean images.
_BITS = 48

# Units resampled together: 50,000 images and 96 cells of one take 20 MB.
_TOGETHER = 4

# Corruption and severity, or distortion and level.
Cell = tuple[str, int]
CLEAN: Cell = ("clean", 0)


class Error(NamedTuple):
    """Top-1 error of a run in [0, 1], over `n` expected images."""

    value: float
    n: int


# By model and run id.
Errors = Mapping[tuple[str, str], Error]


def cell_of(condition: str) -> Cell:
    """Corruption and severity of a condition; severity 0 where it names none.

    Examples
    --------
    >>> cell_of("fog/3"), cell_of("val")
    (('fog', 3), ('val', 0))
    """
    name, _, severity = condition.rpartition("/")
    return (name, int(severity)) if severity.isdigit() else (condition, 0)


def by_corruption(
    errors: Mapping[Cell, ArrayLike], names: Sequence[str], severities: tuple[int, ...]
) -> dict[str, NDArray[np.float64]]:
    """Mean error of each corruption over `severities`, of the shape of one error."""
    return {
        name: mean_over({str(s): errors[name, s] for s in severities}, tuple(map(str, severities)))
        for name in names
    }


def errors_of(connection: duckdb.DuckDBPyConnection, units: Sequence[Unit]) -> Errors:
    """Top-1 error of every run of all units, their normalisers' included, in one pass."""
    runs = [run for unit in units for some in (unit.runs, *unit.normalisers) for run in some]
    found = connection.execute(
        f"""
        SELECT model, run_id, k, n FROM counts
        WHERE run_id IN ({run_filter(runs)}) AND metric = 'top1' AND variant = 'unmasked'
        """
    ).fetchall()
    return {(model, run_id): Error(1 - k / n, n) for model, run_id, k, n in found}


def measured(
    connection: duckdb.DuckDBPyConnection,
    errors: Errors,
    units: Sequence[tuple[Unit, Mapping[Cell, Run]]],
) -> Iterator[Means[Cell]]:
    """Errors of each unit by cell, in the order of `units`; a cell without labels is left out.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    errors : Errors
    units : sequence of (Unit, mapping of cell to Run)
        The runs are some of the unit's own.
    """
    for start in range(0, len(units), _TOGETHER):
        some = units[start : start + _TOGETHER]
        known = [
            {cell: errors[key] for cell, run in runs.items() if (key := _key(run)) in errors}
            for _, runs in some
        ]
        tables = [
            _wrong_by_source(connection, unit, {cell: runs[cell] for cell in own}, own)
            for (unit, runs), own in zip(some, known, strict=True)
        ]
        for (unit, _), own, table, drawn in zip(some, known, tables, resample(tables), strict=True):
            values = {cell: error.value for cell, error in own.items()}
            yield Means(unit, values, drawn, None if table is None else _images(table))


def _key(run: Run) -> tuple[str, str]:
    return run.model, run.run_id


def _images(table: Totals[Cell]) -> int:
    """Source images of any cell: the clean ones may be more than were corrupted."""
    corrupted = [cell != CLEAN for cell in table.columns]
    return int((table.size[:, corrupted] > 0).any(axis=1).sum())


def _wrong_by_source(
    connection: duckdb.DuckDBPyConnection,
    unit: Unit,
    runs: Mapping[Cell, Run],
    errors: Mapping[Cell, Error],
) -> Totals[Cell] | None:
    """Wrong answers of every source image; None where it has several rows in a cell, or none.

    Every cell has a bit of its own, so that millions of rows become one pass that sets bits:
    a column a cell took ten times as long.
    """
    cells = sorted(runs)
    if not cells:
        return None
    bits = [(1 << i, 0) if i < _BITS else (0, 1 << (i - _BITS)) for i in range(len(cells))]
    values = ", ".join(
        f"({quoted(runs[cell].benchmark)}, {quoted(runs[cell].condition)}, "
        f"{low}::BIGINT, {high}::BIGINT)"
        for cell, (low, high) in zip(cells, bits, strict=True)
    )
    found = connection.execute(
        f"""
        SELECT count(*) AS renderings, bit_or(low) AS low, bit_or(high) AS high,
            bit_or(CASE WHEN correct IS NOT true THEN low ELSE 0 END) AS wrong_low,
            bit_or(CASE WHEN correct IS NOT true THEN high ELSE 0 END) AS wrong_high
        FROM predictions
        JOIN (VALUES {values}) AS cells (benchmark, condition, low, high)
            USING (benchmark, condition)
        WHERE model = $model AND run_id IN ({run_filter(runs.values())})
        GROUP BY source_key ORDER BY source_key
        """,
        {"model": unit.model},
    ).fetchnumpy()
    present = _columns(found["low"], found["high"], len(cells))
    # A sample that was expected and has no row is wrong, but of no known source image.
    whole = [errors[cell].n for cell in cells] == present.sum(axis=0, dtype=np.int64).tolist()
    if not whole or (found["renderings"] != present.sum(axis=1)).any():
        return None
    return Totals(
        tuple(cells), _columns(found["wrong_low"], found["wrong_high"], len(cells)), present
    )


def _columns(low: NDArray[np.int64], high: NDArray[np.int64], count: int) -> NDArray[np.int8]:
    """The bits of each row, shape (M, count)."""
    sides = (low, high)
    return np.stack(
        [((sides[i // _BITS] >> (i % _BITS)) & 1).astype(np.int8) for i in range(count)], axis=1
    )
