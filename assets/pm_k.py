"""pm-k: what models lose between frames that people cannot tell apart."""

import time
from typing import Any

import dagster as dg

from assets.frame_reviews import REVIEWED_KEY
from assets.frame_sets import FRAME_SETS_KEY
from assets.lake import Lake
from assets.plots import plots
from assets.sources import OWNERS
from assets.suites import suites
from ops.results import connect

OFFICIAL = ("imagenet_vid_robust", "ytbb_robust")
_SETS = [list(suites()[name].key) for name in OFFICIAL]
_BY_SOURCE = [
    dg.AssetDep(key, partition_mapping=dg.AllPartitionMapping())
    for key in (FRAME_SETS_KEY, REVIEWED_KEY)
]


@dg.asset(
    key=["pmk", "classification"],
    group_name="results",
    deps=[["results", "metrics"], *_SETS, *_BY_SOURCE],
    owners=OWNERS,
    kinds={"duckdb"},
    pool="duckdb",
)
def pmk_classification(lake: Lake) -> dg.MaterializeResult:
    """pm-0 and pm-10 of every model on every set of frames, with exact intervals and the drop."""
    from ops.report import figure_offsets, figure_pm_k, figure_pm_k_scatter

    with connect(lake.open(), catalog=lake.load()) as connection:
        answer = connection.sql(
            """
            SELECT model, benchmark, condition, metric, value, ci_lo, ci_hi, k, n, synthetic
            FROM pmk
            WHERE variant IN ('with anchor', 'pm0 - pm10')
                AND metric IN ('pm0', 'pm10', 'pm_drop')
            ORDER BY ALL
            """
        )
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]
        drawn = plots(
            connection,
            {
                "original versus perturbed": figure_pm_k_scatter,
                "error by offset": figure_offsets,
                "pm-k": figure_pm_k,
            },
        )
    return dg.MaterializeResult(
        metadata={
            **_warning(rows),
            "pmk": _table(rows),
            **drawn,
            "dagster/row_count": len(rows),
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM pmk;\n```"),
        }
    )


@dg.asset(
    key=["pmk", "detection"],
    group_name="results",
    deps=[*_BY_SOURCE],
    owners=OWNERS,
    kinds={"parquet"},
    pool="duckdb",
)
def pmk_detection(lake: Lake) -> dg.MaterializeResult:
    """pm-k mAP at IoU 0.5 of stored detections: detection and localisation, paired intervals.

    Detections come from `shiftlake detections run` or `shiftlake detections import`.
    """
    from ops.results.detection_metrics import compute_detection_metrics

    started = time.monotonic()
    table = compute_detection_metrics(lake.open())
    rows = table.select(
        ["model", "benchmark", "condition", "metric", "variant", "value", "ci_lo", "ci_hi", "n"]
    ).to_pylist()
    return dg.MaterializeResult(
        metadata={
            "detection": _table(rows[:500]),
            "dagster/row_count": len(rows),
            "seconds": round(time.monotonic() - started, 3),
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM detection_metrics;\n```"),
        }
    )


@dg.asset(
    key=["pmk", "flicker"],
    group_name="results",
    deps=[["pmk", "classification"]],
    owners=OWNERS,
    kinds={"duckdb"},
    pool="duckdb",
)
def pmk_flicker(lake: Lake) -> dg.MaterializeResult:
    """Frames that flip models: anchors they have right beside the nearest frame they have wrong."""
    from ops.report import flicker_gallery_strip

    root = lake.open()
    with connect(root, catalog=lake.load()) as connection:
        picture = flicker_gallery_strip(root, connection)
    shown: dict[str, Any] = {}
    if picture is not None:
        shown["gallery"] = dg.MetadataValue.md(f"![frames that flip models]({picture})")
    return dg.MaterializeResult(
        metadata={
            **shown,
            "sql": dg.MetadataValue.md("```sql\nSELECT * FROM pmk_sets;\n```"),
        }
    )


def _warning(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not any(row["synthetic"] for row in rows):
        return {}
    text = "Synthetic images: these numbers say nothing about real data."
    return {"warning": dg.MetadataValue.md(f"**{text}**")}


def _table(rows: list[dict[str, Any]]) -> dg.TableMetadataValue:
    records = []
    for row in rows:
        value, lo, hi = (_percent(row[name]) for name in ("value", "ci_lo", "ci_hi"))
        metric = row["metric"] + (f" ({row['variant']})" if "variant" in row else "")
        records.append(
            dg.TableRecord(
                {
                    "model": row["model"],
                    "set": f"{row['benchmark']}/{row['condition']}",
                    "metric": metric,
                    "value, %": value,
                    "95 % interval": f"{lo} to {hi}",
                    "n": row["n"],
                }
            )
        )
    kinds = ("model", "set", "metric", "value, %", "95 % interval")
    columns = [dg.TableColumn(name, "string") for name in kinds]
    schema = dg.TableSchema([*columns, dg.TableColumn("n", "int")])
    return dg.MetadataValue.table(records, schema=schema)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"
