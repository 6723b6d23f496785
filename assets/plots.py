"""Plots in an asset's metadata, drawn by the report's own figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    import duckdb
    from matplotlib.figure import Figure

    Draw = Callable[[duckdb.DuckDBPyConnection], Figure | None]

# Dagster keeps metadata in its event log.
_MAX_BYTES = 200_000


def plots(
    connection: duckdb.DuckDBPyConnection, wanted: dict[str, Draw]
) -> dict[str, dg.MetadataValue[Any]]:
    """Draw what there is data for.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    wanted : dict of str to callable
        Title of each plot, and what draws it; None is no plot.
    """
    from ops.report import as_png_data_uri

    found: dict[str, dg.MetadataValue[Any]] = {}
    for title, draw in wanted.items():
        figure = draw(connection)
        if figure is not None:
            picture = as_png_data_uri(figure, _MAX_BYTES)
            found[title] = dg.MetadataValue.md(f"![{title}]({picture})")
    return found


def of_benchmarks(
    draw: Callable[[duckdb.DuckDBPyConnection, str], Figure | None],
    title: str,
    benchmarks: tuple[str, ...],
) -> dict[str, Draw]:
    """The same plot for each of some benchmarks."""

    def of(benchmark: str) -> Draw:
        return lambda connection: draw(connection, benchmark)

    return {f"{title}, {benchmark}": of(benchmark) for benchmark in benchmarks}
