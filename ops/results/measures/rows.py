"""The rows of one run, in the order of their sample keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ops.results.inventory import Run

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, NDArray[Any]]

# Names of files tell these: each is compared once a file, and the other files stay closed. A list
# of run ids would be compared id by id for every file.
OF_RUN = """
    p.model = $model AND p.benchmark = $benchmark AND p.condition = $condition
    AND p.run_id = $run_id
"""


def rows_of(
    connection: duckdb.DuckDBPyConnection,
    run: Run,
    columns: str,
    *,
    where: str = "true",
    join: str = "",
    **parameters: str,
) -> Columns:
    """Columns of a run.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    run : Run
    columns : str
        SQL over a row of predictions, ``p``; none of them NULL.
    where, join : str
        SQL that keeps some rows.
    **parameters : str
        What else these name.

    Returns
    -------
    dict of str to ndarray
        Empty arrays where the run has no such row.
    """
    return connection.execute(
        f"""
        SELECT {columns} FROM predictions AS p {join}
        WHERE {OF_RUN} AND {where}
        ORDER BY p.sample_key
        """,
        named(run) | parameters,
    ).fetchnumpy()


def named(run: Run) -> dict[str, str]:
    """The parameters of `OF_RUN`."""
    return {name: getattr(run, name) for name in ("model", "benchmark", "condition", "run_id")}
