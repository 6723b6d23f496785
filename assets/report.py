"""The report, and the results published elsewhere that it sets beside one's own."""

import os
import time

import dagster as dg

from assets.lake import Lake
from assets.sources import OWNERS
from assets.suites import reference_sources

# Set by the command that serves the page beside Dagster's own.
URL_VARIABLE = "SHIFTLAKE_REPORT_URL"
USUAL_URL = "http://127.0.0.1:3001/report.html"


@dg.asset(
    key=["results", "reference"],
    group_name="results",
    deps=[list(key) for key in reference_sources()],
    owners=OWNERS,
    kinds={"parquet"},
    pool="duckdb",
)
def reference(lake: Lake) -> dg.MaterializeResult:
    """Results published elsewhere in one table: model, benchmark, condition, metric, value, source.

    What is not fetched is passed over. Every setting keeps the publisher's own name beside ours.
    """
    from ops.results import import_references

    root, catalog = lake.open(), lake.load()
    table = import_references(root, catalog)
    rows: dict[tuple[str, str], set[str]] = {}
    for row in table.select(["source", "setting", "model"]).to_pylist():
        rows.setdefault((row["source"], row["setting"]), set()).add(row["model"])
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": table.num_rows,
            "settings": dg.MetadataValue.table(
                [
                    dg.TableRecord({"source": source, "setting": setting, "models": len(models)})
                    for (source, setting), models in sorted(rows.items())
                ],
                schema=dg.TableSchema(
                    [
                        dg.TableColumn("source", "string"),
                        dg.TableColumn("setting", "string"),
                        dg.TableColumn("models", "int"),
                    ]
                ),
            ),
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM reference_results;\n```"),
        }
    )


@dg.asset(
    key=["results", "report"],
    group_name="report",
    deps=[["results", "metrics"], ["results", "leaderboard"], ["results", "gate"],
          ["results", "reference"], ["pmk", "classification"], ["pmk", "detection"]],
    owners=OWNERS,
    kinds={"html"},
    pool="duckdb",
)  # fmt: skip
def report(lake: Lake) -> dg.MaterializeResult:
    """One self-contained page: leaderboard, curves, scatter, calibration, failures, provenance."""
    from ops.report import write_report

    root, catalog = lake.open(), lake.load()
    started = time.monotonic()
    path = write_report(root, catalog)
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.url(os.environ.get(URL_VARIABLE, USUAL_URL)),
            "file": path,
            "bytes": root.size(path),
            "seconds": round(time.monotonic() - started, 3),
        }
    )
