"""Accuracies: rows of the view ``counts`` as proportions, and the mean over classes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.metrics import mean_per_class_accuracy
from ops.results.measures.unit import Row, Unit, by_dataset, run_filter

if TYPE_CHECKING:
    import duckdb


def accuracies(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Top-1 and top-5, unmasked and masked, and the clean-200 companions of each run."""
    return _proportions(connection, units, "variant <> 'real'")


def reassessed(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """ReaL accuracy of each validation run, under the name of its own benchmark."""
    return _proportions(connection, units, "variant = 'real'")


def _proportions(connection: duckdb.DuckDBPyConnection, units: list[Unit], which: str) -> list[Row]:
    about = by_dataset(units)
    found = connection.execute(
        f"""
        SELECT model, run_id, benchmark, condition, metric, variant, k, n FROM counts
        WHERE {which} AND k IS NOT NULL AND run_id IN ({_runs(units)})
        """
    ).fetchall()
    return [
        about[model, run_id].proportion(
            metric, variant, k, n, benchmark=benchmark, condition=condition
        )
        for model, run_id, benchmark, condition, metric, variant, k, n in found
        if (model, run_id) in about
    ]


def per_class(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Mean per-class accuracy of each run whose samples have one label."""
    about = by_dataset(units)
    counts: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for model, run_id, k, n in connection.execute(
        f"""
        SELECT model, run_id, count(*) FILTER (WHERE correct), count(*) FROM predictions
        WHERE run_id IN ({_runs(units)}) AND len(labels) = 1
        GROUP BY model, run_id, labels[1]
        """
    ).fetchall():
        counts[model, run_id].append((k, n))
    rows = []
    for pair, pairs in sorted(counts.items()):
        if pair in about:
            # In a fixed order: the last bit of a mean of floats depends on it.
            k, n = zip(*sorted(pairs), strict=True)
            value = mean_per_class_accuracy(k, n)
            rows.append(about[pair].row("mean_per_class", "unmasked", value, n=sum(n)))
    return rows


def _runs(units: list[Unit]) -> str:
    return run_filter(run for unit in units for run in unit.runs)
