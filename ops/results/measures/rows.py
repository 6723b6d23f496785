"""Rows of many runs at once, handed out run by run in the order of their sample keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ops.results.inventory import Run
from ops.results.measures.unit import quoted, run_filter

if TYPE_CHECKING:
    import duckdb

# Rows read by one query: at a few columns each, some hundred MB.
_ROWS = 2_000_000

Columns = dict[str, NDArray[Any]]


def rows_of(
    connection: duckdb.DuckDBPyConnection,
    runs: Sequence[Run],
    columns: str,
    *,
    where: str = "true",
    join: str = "",
) -> Iterator[Columns]:
    """Columns of each run, a query for as many runs as `_ROWS` allows.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    runs : sequence of Run
    columns : str
        SQL over a row of predictions, ``p``; none of them NULL.
    where, join : str
        SQL that keeps some rows.

    Yields
    ------
    dict of str to ndarray
        In the order of `runs`, the rows by `sample_key`; empty arrays where a run has none.
    """
    start = 0
    while start < len(runs):
        end, rows = start, 0
        while end < len(runs) and (end == start or rows + runs[end].n_expected <= _ROWS):
            rows += runs[end].n_expected
            end += 1
        yield from _read(connection, runs[start:end], columns, where, join)
        start = end


def _read(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[Run], columns: str, where: str, join: str
) -> Iterator[Columns]:
    wanted = ", ".join(
        f"({i}, {quoted(run.model)}, {quoted(run.run_id)})" for i, run in enumerate(runs)
    )
    # Names of files tell the run: only with these lists are the others left closed.
    models = ", ".join(quoted(model) for model in sorted({run.model for run in runs}))
    benchmarks = ", ".join(quoted(name) for name in sorted({run.benchmark for run in runs}))
    found = connection.execute(
        f"""
        SELECT w.place, {columns}
        FROM predictions AS p
        JOIN (VALUES {wanted}) AS w (place, model, run_id)
            ON w.model = p.model AND w.run_id = p.run_id
        {join}
        WHERE p.run_id IN ({run_filter(runs)}) AND p.model IN ({models})
            AND p.benchmark IN ({benchmarks}) AND {where}
        ORDER BY w.place, p.sample_key
        """
    ).fetchnumpy()
    places = found.pop("place")
    edges = np.searchsorted(places, np.arange(len(runs) + 1))
    for first, last in pairwise(edges):
        yield {name: values[first:last] for name, values in found.items()}
