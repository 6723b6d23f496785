"""Accuracies: rows of the view ``counts`` as proportions, and the mean over classes."""

from __future__ import annotations

from ops.metrics import mean_per_class_accuracy
from ops.results.measures.rows import OF_RUN, named
from ops.results.measures.source import Source
from ops.results.measures.unit import Row, Unit, by_dataset


def accuracies(source: Source, units: list[Unit]) -> list[Row]:
    """Top-1 and top-5, unmasked and masked, and the clean-200 companions of each run."""
    return _proportions(source, units, real=False)


def reassessed(source: Source, units: list[Unit]) -> list[Row]:
    """ReaL accuracy of each validation run, under the name of its own benchmark."""
    return _proportions(source, units, real=True)


def _proportions(source: Source, units: list[Unit], *, real: bool) -> list[Row]:
    about = by_dataset(units)
    return [
        about[each.model, each.run_id].proportion(
            each.metric,
            each.variant,
            each.k,
            each.n,
            benchmark=each.benchmark,
            condition=each.condition,
        )
        for model in sorted({unit.model for unit in units})
        for each in source.counts(model)
        if (each.model, each.run_id) in about and (each.variant == "real") == real
    ]


def per_class(source: Source, units: list[Unit]) -> list[Row]:
    """Mean per-class accuracy of each run whose samples have one label."""
    rows = []
    for unit in units:
        pairs = source.connection.execute(
            f"""
            SELECT count(*) FILTER (WHERE correct), count(*) FROM predictions AS p
            WHERE {OF_RUN} AND len(labels) = 1 GROUP BY labels[1]
            """,
            named(unit.runs[0]),
        ).fetchall()
        if pairs:
            # In a fixed order: the last bit of a mean of floats depends on it.
            k, n = zip(*sorted(pairs), strict=True)
            value = mean_per_class_accuracy(k, n)
            rows.append(unit.row("mean_per_class", "unmasked", value, n=sum(n)))
    return rows
