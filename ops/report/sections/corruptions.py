"""ImageNet-C and its like: curves by severity, the heat-map, and everything called mCE."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Cell, Column, Number, Plot, Section, Table
from ops.report.figures.heat_map import MOST, figure_heat_map
from ops.report.figures.severities import figure_severities
from ops.report.names import benchmark_name
from ops.report.svg import as_svg
from ops.results.families import CORRUPTED, MINI_CORRUPTED, distorted

if TYPE_CHECKING:
    import duckdb

_MEANINGS = {
    ("mce_alexnet_pct", "alexnet"): ("mCE", "the paper's: over AlexNet's error, mean of 15"),
    ("relative_mce_alexnet_pct", "alexnet"): (
        "relative mCE",
        "above the clean error, over AlexNet",
    ),
    ("mean_err_15_pct", "unnormalised"): ("mean error of 15", "not normalised"),
    ("mean_err_19_pct", "unnormalised"): ("mean error of 19", "not normalised, with the 4 extras"),
    ("mean_err_15_pct", "severity 5"): ("mean error, severity 5", "not normalised"),
    ("mce_severity_5_alexnet_pct", "alexnet severity 5"): (
        "mCE, severity 5",
        "over AlexNet's severity 5",
    ),
}


def corruptions(connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast) -> Section:
    """Figures for every set of corruptions that has results, then one table of means."""
    section = Section(
        "corruptions",
        "Corruptions",
        "Accuracy by severity; severity 0 is the clean set. Bands are 95 % intervals, left out "
        "where they are thinner than the line.",
        missing="no set of corruptions is evaluated: ImageNet-C can be rendered from the "
        "validation images",
    )
    present = [
        name
        for (name,) in connection.execute(
            "SELECT DISTINCT benchmark FROM metrics "
            "WHERE contains(condition, '/') OR metric = 'ce_alexnet_pct' ORDER BY ALL"
        ).fetchall()
        if name in CORRUPTED or distorted(name)
    ]
    for benchmark in sorted(present, key=lambda name: (distorted(name), name)):
        name = benchmark_name(catalog, benchmark)
        curves = figure_severities(connection, benchmark, models)
        if curves is not None:
            section.blocks.append(Plot(as_svg(curves), f"{name}: top-1 accuracy by severity."))
        heat = figure_heat_map(connection, benchmark, models)
        if heat is not None:
            caption = (
                f"{name}: corruption error, in percent of AlexNet's. 100 is as bad as AlexNet; "
                "rows are sorted by their mean over the 15, the mCE where all are there."
            )
            if len(models.models) > MOST:
                caption += (
                    f" At most {MOST} rows: the best, the worst, those in colour elsewhere, and "
                    "some evenly between."
                )
            section.blocks.append(Plot(as_svg(heat), caption))
    table = _means(connection, catalog)
    if table is not None:
        section.blocks.append(table)
    return section


def _means(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> Table | None:
    found: dict[tuple[str, str], dict[tuple[str, str], Number]] = defaultdict(dict)
    for benchmark, model, metric, variant, value, lo, hi, n, method in connection.execute(
        """
        SELECT benchmark, model, metric, variant, value_pct, ci_lo_pct, ci_hi_pct, n, ci_method
        FROM mce
        WHERE corruption = 'all' AND value_pct IS NOT NULL
            AND NOT regexp_matches(variant, '^severity [1-4]$')
        ORDER BY ALL
        """
    ).fetchall():
        if benchmark in CORRUPTED and variant == "severity 5":
            continue
        note = f"n = {n:,} source images; {method}" if n and lo is not None else ""
        found[benchmark, model][metric, variant] = Number(value, lo, hi, note)
    if not found:
        return None
    seen = {key for row in found.values() for key in row}
    keys = [key for key in _MEANINGS if key in seen] + sorted(seen - set(_MEANINGS))
    columns = [Column("model", numeric=False), Column("set", numeric=False)]
    for key in keys:
        name = key[0].removesuffix("_pct").replace("_", " ").replace("mce", "mCE")
        label, under = _MEANINGS.get(key, (name, key[1]))
        columns.append(Column(label, under, "lower"))
    order = (*CORRUPTED, *MINI_CORRUPTED)

    def place(key: tuple[str, str]) -> tuple[int, float, str]:
        at = order.index(key[0]) if key[0] in order else 99
        first = next((found[key][k].value for k in keys if k in found[key]), 0.0)
        return (at, first, key[1])

    body: list[list[Cell]] = [
        [model, benchmark_name(catalog, benchmark), *(found[benchmark, model].get(k) for k in keys)]
        for benchmark, model in sorted(found, key=place)
    ]
    caption = "What is called mCE, side by side; in percent, less is better"
    return Table("mce-table", columns, body, caption)
