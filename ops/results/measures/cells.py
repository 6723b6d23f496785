"""Several runs on renderings of the same images: top-1 errors by cell, and their resamples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.corruption import mean_over
from ops.results.inventory import Run
from ops.results.measures.resampled import Means, Totals, resampled
from ops.results.measures.source import Error, Source, pair
from ops.results.measures.unit import Unit, quoted

# Bits in one BIGINT; two of them hold the 95 cells of ImageNet-C and the clean images.
_BITS = 48

# Corruption and severity, or distortion and level.
Cell = tuple[str, int]
CLEAN: Cell = ("clean", 0)


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


def measured(
    source: Source, units: Sequence[tuple[Unit, Mapping[Cell, Run]]]
) -> Iterator[Means[Cell]]:
    """Errors of each unit by cell, in the order of `units`; a cell without labels is left out.

    Parameters
    ----------
    source : Source
    units : sequence of (Unit, mapping of cell to Run)
        The runs are some of the unit's own.

    Notes
    -----
    Of the clean images only those count that were corrupted as well, so that what corruption adds
    is never a difference between images. Where rows are missing, it is not known which these are:
    the clean error is left out unless there are as many images as in the other cells.
    """
    for unit, runs in units:
        errors = source.errors(runs.values())
        known = {cell: errors[key] for cell, run in runs.items() if (key := pair(run)) in errors}
        read = _wrong_by_source(source, unit, {cell: runs[cell] for cell in known}, known)
        values = {cell: error.value for cell, error in known.items()}
        if read is None:
            if CLEAN in known and len({error.n for error in known.values()}) > 1:
                del values[CLEAN]
            yield Means(unit, values, None, None)
            continue
        table, sources = read
        clean = known.get(CLEAN)
        if clean is None or len(known) == 1:
            yield resampled(unit, values, table)
            continue
        corrupted = np.array([cell != CLEAN for cell in table.columns])
        also = (table.size[:, corrupted] > 0).any(axis=1)
        table = Totals(table.columns, table.total[also], table.size[also])
        both = int(table.size[:, ~corrupted].sum())
        if both == clean.n:
            yield resampled(unit, values, table)
        elif both:
            values[CLEAN] = float(table.total[:, ~corrupted].sum() / both)
            yield replace(resampled(unit, values, table), sources=sources[also])
        else:
            kept = tuple(cell for cell in table.columns if cell != CLEAN)
            del values[CLEAN]
            table = Totals(kept, table.total[:, corrupted], table.size[:, corrupted])
            yield resampled(unit, values, table)


def _wrong_by_source(
    source: Source, unit: Unit, runs: Mapping[Cell, Run], errors: Mapping[Cell, Error]
) -> tuple[Totals[Cell], NDArray[np.str_]] | None:
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
        f"{quoted(runs[cell].run_id)}, {low}::BIGINT, {high}::BIGINT)"
        for cell, (low, high) in zip(cells, bits, strict=True)
    )
    # A few names, which leave the files of other benchmarks closed.
    benchmarks = ", ".join(quoted(name) for name in sorted({r.benchmark for r in runs.values()}))
    found = source.connection.execute(
        f"""
        SELECT source_key, count(*) AS renderings, bit_or(low) AS low, bit_or(high) AS high,
            bit_or(CASE WHEN correct IS NOT true THEN low ELSE 0 END) AS wrong_low,
            bit_or(CASE WHEN correct IS NOT true THEN high ELSE 0 END) AS wrong_high
        FROM predictions
        JOIN (VALUES {values}) AS cells (benchmark, condition, run_id, low, high)
            USING (benchmark, condition, run_id)
        WHERE model = $model AND benchmark IN ({benchmarks})
        GROUP BY source_key ORDER BY source_key
        """,
        {"model": unit.model},
    ).fetchnumpy()
    present = _columns(found["low"], found["high"], len(cells))
    # A sample that was expected and has no row is wrong, but of no known source image.
    whole = [errors[cell].n for cell in cells] == present.sum(axis=0, dtype=np.int64).tolist()
    if not whole or (found["renderings"] != present.sum(axis=1)).any():
        return None
    wrong = _columns(found["wrong_low"], found["wrong_high"], len(cells))
    return Totals(tuple(cells), wrong, present), found["source_key"].astype(str)


def _columns(low: NDArray[np.int64], high: NDArray[np.int64], count: int) -> NDArray[np.int8]:
    """The bits of each row, shape (M, count)."""
    sides = (low, high)
    return np.stack(
        [((sides[i // _BITS] >> (i % _BITS)) & 1).astype(np.int8) for i in range(count)], axis=1
    )
