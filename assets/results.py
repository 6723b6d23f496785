"""Results: every metric with its interval, computed from rows."""

import time
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.sources import OWNERS
from ops.results import compute_metrics, connect


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
        )
    ],
)
def metrics(lake: Lake) -> dg.MaterializeResult:
    """The table `metrics`: model, benchmark, condition, metric, variant, value, interval, n."""
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
    return dg.MaterializeResult(
        metadata={
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
                passed=not wrong, metadata={"rows": table.num_rows, "wrong": str(wrong[:20])}
            )
        ],
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
    with connect(lake.open()) as connection:
        answer = connection.sql("SELECT * FROM leaderboard")
        columns, rows = answer.columns, answer.fetchall()
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
            "dagster/row_count": len(records),
            "synthetic": synthetic,
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM leaderboard;\n```"),
        }
    )


COLUMNS = (
    ("benchmark", "string"),
    ("value, %", "string"),
    ("95 % interval", "string"),
    ("n", "int"),
    ("model", "string"),
    ("metric", "string"),
)


def _record(row: dict[str, Any]) -> dg.TableRecord:
    name = row["benchmark"]
    if row["condition"] not in ("clean", "all"):
        name += f"/{row['condition']}"
    return dg.TableRecord(
        {
            "benchmark": name,
            "value, %": _number(row["value_pct"]),
            "95 % interval": f"{_number(row['ci_lo_pct'])} to {_number(row['ci_hi_pct'])}",
            "n": row["n"],
            "model": row["model"],
            "metric": f"{row['metric']} ({row['variant']})",
        }
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
