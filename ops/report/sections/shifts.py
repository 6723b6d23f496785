"""Accuracy under natural shifts against accuracy without, and effective robustness."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report.cast import Cast
from ops.report.document import Cell, Column, Number, Plot, Section, Table, Text
from ops.report.figures.shift import SHIFTS, figure_shifts
from ops.report.svg import as_svg

if TYPE_CHECKING:
    import duckdb


def shifts(connection: duckdb.DuckDBPyConnection, models: Cast) -> Section:
    """The scatter with the published models, and how far each model lies above the line."""
    section = Section(
        "shifts",
        "Natural shifts",
        "A model that is better on ImageNet is better elsewhere, along a line. What counts as "
        "robust is to lie above it.",
        missing="no model has both an accuracy under a natural shift and one without",
        short="Shifts",
    )
    figure = figure_shifts(connection, models)
    if figure is None:
        return section
    caption = (
        "Logit axes (Taori et al., 2020). Bars are exact 95 % intervals. The line is fitted "
        "through published models trained in the standard way; its band is the 95 % bootstrap "
        "interval of the fit. The anchors of the videos are not set against ImageNet here: only "
        "published models have an accuracy on validation images of the videos' classes."
    )
    section.blocks.append(Plot(as_svg(figure), caption))
    table, pools = _table(connection)
    if table is not None:
        sizes = [n for _, _, n in pools]
        span = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        named = ", ".join(sorted({f"{pool} at {rev[:12]}" for pool, rev, _ in pools}))
        section.blocks.append(Text(f"{named}; {span} models a line.", "Fitted to"))
        section.blocks.append(table)
    else:
        text = (
            "They are what the line is fitted through; a fit on one's own few models would say "
            "nothing. Fetch and import them: shiftlake reference import."
        )
        section.blocks.append(Text(text, "No published results are imported."))
    return section


def _table(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[Table | None, list[tuple[str, str, int]]]:
    """The table, and the pools (source, revision, models) that its lines are fitted to."""
    pools: set[tuple[str, str, int]] = set()
    found: dict[str, dict[tuple[str, ...], Number]] = defaultdict(dict)
    for model, *key, rho, lo, hi, accuracy, expected, n, pool, revision in connection.execute(
        """
        SELECT model, benchmark, condition, metric, variant, effective_robustness,
            effective_robustness_lo, effective_robustness_hi, accuracy, expected, n_pool, pool,
            pool_revision
        FROM effective_robustness WHERE origin = 'lake'
        QUALIFY n_pool = max(n_pool) OVER (PARTITION BY benchmark, condition, metric, variant)
        ORDER BY ALL
        """
    ).fetchall():
        note = f"{100 * accuracy:.2f} % instead of {100 * expected:.2f} %; {n} models a line"
        found[model][tuple(key)] = Number(rho, lo, hi, note)
        pools.add((pool, str(revision), n))
    if not found:
        return None, []
    seen = {key for row in found.values() for key in row}
    shown = [shift for shift in SHIFTS if shift.shifted in seen]
    columns = [Column("model", numeric=False)]
    columns += [Column(shift.title, f"against {shift.across}", "higher") for shift in shown]

    def place(model: str) -> tuple[float, str]:
        values = [number.value for number in found[model].values()]
        return (-sum(values) / len(values), model)

    body: list[list[Cell]] = [
        [model, *(found[model].get(shift.shifted) for shift in shown)]
        for model in sorted(found, key=place)
    ]
    caption = (
        "Effective robustness, in points above the line; the interval is that of the accuracy "
        "under shift alone"
    )
    return Table("effective-robustness", columns, body, caption), sorted(pools)
