"""Results: every metric with its interval, computed from rows."""

import time
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.plots import of_benchmarks, plots
from assets.sources import OWNERS
from ops.results import compute_metrics, connect
from ops.results.families import CORRUPTED, PERTURBED
from ops.results.reference import GoldenCheck, golden_checks


@dg.asset(
    key=["results", "metrics"],
    group_name="results",
    deps=[["evaluation", "predictions"], ["imagenet_real", "shards"]],
    owners=OWNERS,
    kinds={"duckdb", "parquet"},
    pool="duckdb",
    check_specs=[
        dg.AssetCheckSpec(
            "intervals_hold_values",
            asset=["results", "metrics"],
            blocking=True,
            description="Every value lies in its interval, and k is at most n.",
        ),
        dg.AssetCheckSpec(
            "golden_numbers",
            asset=["results", "metrics"],
            description="Models whose weights have published results reach them here.",
        ),
    ],
)
def metrics(lake: Lake) -> dg.MaterializeResult:
    """The table `metrics`: model, benchmark, condition, metric, variant, value, interval, n.

    Rows that were evaluated since the last time are compacted first, and every number that is
    superseded stays in the view `history`.
    """
    from ops.report import figure_confidence, figure_flips, figure_pm_k, figure_reliability

    root, catalog = lake.open(), lake.load()
    started = time.monotonic()
    table = compute_metrics(root, catalog)
    with connect(root) as connection:
        wrong = connection.sql(
            "SELECT model, benchmark, condition, metric, variant FROM metrics "
            "WHERE value NOT BETWEEN ci_lo AND ci_hi OR k > n"
        ).fetchall()
        by_metric = connection.sql(
            "SELECT metric, count(*) AS rows FROM metrics GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        drawn = plots(
            connection,
            {
                "reliability": figure_reliability,
                "confidence": figure_confidence,
                **of_benchmarks(figure_flips, "flips", PERTURBED),
                "pm-k": figure_pm_k,
            },
        )
    return dg.MaterializeResult(
        metadata={
            **drawn,
            "dagster/row_count": table.num_rows,
            "seconds": round(time.monotonic() - started, 3),
            "metrics": dg.MetadataValue.table(
                [dg.TableRecord({"metric": name, "rows": rows}) for name, rows in by_metric],
                schema=dg.TableSchema(
                    [dg.TableColumn("metric", "string"), dg.TableColumn("rows", "int")]
                ),
            ),
        },
        check_results=[
            dg.AssetCheckResult(
                check_name="intervals_hold_values",
                passed=not wrong,
                metadata={"rows": table.num_rows, "wrong": str(wrong[:20])},
            ),
            _golden(golden_checks(root, catalog)),
        ],
    )


def _golden(checks: list[GoldenCheck]) -> dg.AssetCheckResult:
    """Red if a published number is missed; numbers nobody can reach here are only counted."""
    compared = [check for check in checks if check.status != "not applicable"]
    missed = [check for check in compared if check.status == "failed"]
    return dg.AssetCheckResult(
        check_name="golden_numbers",
        passed=not missed,
        description="; ".join(
            f"{check.golden} on {check.dataset}: {check.reason}" for check in missed
        )
        or (None if compared else "no model with published results has been evaluated"),
        metadata={
            "compared": len(compared),
            "not_applicable": len(checks) - len(compared),
            "numbers": dg.MetadataValue.table(
                [
                    dg.TableRecord(
                        {
                            "model": check.model or "–",
                            "dataset": check.dataset,
                            "metric": f"{check.metric} ({check.variant})",
                            "ours, %": _number(check.value),
                            "published, %": f"{check.published_lo:g} to {check.published_hi:g}",
                            "tolerance": check.tolerance,
                            "status": check.status,
                            "why": check.reason or "",
                            "source": check.source,
                        }
                    )
                    for check in checks
                ]
            ),
        },
    )


@dg.asset(
    key=["results", "leaderboard"],
    group_name="results",
    deps=[["results", "metrics"]],
    owners=OWNERS,
    kinds={"duckdb"},
    pool="duckdb",
)
def leaderboard(lake: Lake) -> dg.MaterializeResult:
    """One line a model and benchmark: the headline metric, its 95 % interval and n."""
    from ops.report import figure_heat_map, figure_ladder, figure_severities, figure_shifts

    with connect(lake.open()) as connection:
        answer = connection.sql("SELECT * FROM leaderboard")
        columns, rows = answer.columns, answer.fetchall()
        drawn = plots(
            connection,
            {
                "ladder": figure_ladder,
                "shifts": figure_shifts,
                **of_benchmarks(figure_severities, "severities", CORRUPTED),
                **of_benchmarks(figure_heat_map, "corruption errors", CORRUPTED),
            },
        )
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    synthetic = any(record["synthetic"] for record in records)
    warning = "Synthetic images: these numbers say nothing about real data."
    return dg.MaterializeResult(
        metadata={
            **({"warning": dg.MetadataValue.md(f"**{warning}**")} if synthetic else {}),
            "leaderboard": dg.MetadataValue.table(
                [_record(record) for record in records],
                schema=dg.TableSchema([dg.TableColumn(name, kind) for name, kind in COLUMNS]),
            ),
            **drawn,
            "dagster/row_count": len(records),
            "synthetic": synthetic,
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM leaderboard;\n```"),
        }
    )


COLUMNS = (
    ("model", "string"),
    ("benchmark", "string"),
    ("value, %", "string"),
    ("95 % interval", "string"),
    ("n", "int"),
    ("metric", "string"),
)


def _record(row: dict[str, Any]) -> dg.TableRecord:
    name = row["benchmark"]
    if row["condition"] not in ("clean", "all"):
        name += f"/{row['condition']}"
    return dg.TableRecord(
        {
            "model": row["model"],
            "benchmark": name,
            "value, %": _number(row["value_pct"]),
            "95 % interval": f"{_number(row['ci_lo_pct'])} to {_number(row['ci_hi_pct'])}",
            "n": row["n"],
            "metric": f"{row['metric']} ({row['variant']})",
        }
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
