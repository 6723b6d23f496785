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
    """pm-0 and pm-k of every model on every set of frames, with exact intervals and the drop.

    k is 10, or what was mined where that is less.
    """
    from ops.report import figure_offsets, figure_pm_k, figure_pm_k_scatter

    with connect(lake.open(), catalog=lake.load()) as connection:
        answer = connection.sql(
            """
            SELECT model, benchmark, condition,
                CASE WHEN widest AND metric <> 'pm0' THEN 'pm-k' ELSE metric END AS metric,
                frames_around, value, ci_lo, ci_hi, k, n, synthetic, seen_in_training
            FROM pmk
            WHERE subset = 'all frames' AND NOT contains(reading, 'without anchor')
                AND (metric IN ('pm0', 'pm_drop') OR widest AND reading = 'with anchor')
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
            "pmk": _one_line_a_set(rows),
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
    # Every rule and every k are in SQL; the page shows what the paper does.
    paper = [row for row in table.to_pylist() if row["rule"] == "101-point"]
    reach = {row["condition"]: 0 for row in paper}
    for row in paper:
        # Of a source that was mined less far, the largest k there is.
        reach[row["condition"]] = max(reach[row["condition"]], row["k"])
    rows = [row for row in paper if row["k"] in (0, reach[row["condition"]])][:500]
    return dg.MaterializeResult(
        metadata={
            "detection": _detection(rows),
            "dagster/row_count": table.num_rows,
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


def _one_line_a_set(rows: list[dict[str, Any]]) -> dg.TableMetadataValue:
    """pm-0, pm-k and what is lost side by side, each with its interval."""
    cells: dict[tuple[str, str, int], dict[str, str]] = {}
    for row in rows:
        name = (row["model"], f"{row['benchmark']}/{row['condition']}", row["n"])
        found = cells.setdefault(name, {})
        found[row["metric"]] = _share(row)
        if row["metric"] == "pm-k":
            found["k"] = str(row["frames_around"])
        if row["seen_in_training"]:
            found["note"] = "fine-tuned on videos of this very set"
    records = [
        dg.TableRecord(
            {
                "set": dataset,
                "model": model,
                "pm-0, %": found.get("pm0", "–"),
                "pm-k, %": found.get("pm-k", "–"),
                "lost, %": found.get("pm_drop", "–"),
                "k": found.get("k", "–"),
                "note": found.get("note", ""),
                "sets": n,
            }
        )
        for (model, dataset, n), found in cells.items()
    ]
    texts = ("set", "model", "pm-0, %", "pm-k, %", "lost, %", "k", "note")
    return _with_schema(records, texts, "sets")


def _detection(rows: list[dict[str, Any]]) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord(
            {
                "set": f"{row['benchmark']}/{row['condition']}",
                "detector": row["model"],
                "metric": row["metric"],
                "variant": row["variant"],
                "value, %": _share(row),
                "sets": row["n"],
            }
        )
        for row in rows
    ]
    return _with_schema(records, ("set", "detector", "metric", "variant", "value, %"), "sets")


def _with_schema(
    records: list[dg.TableRecord], texts: tuple[str, ...], number: str
) -> dg.TableMetadataValue:
    columns = [dg.TableColumn(name, "string") for name in texts]
    schema = dg.TableSchema([*columns, dg.TableColumn(number, "int")])
    return dg.MetadataValue.table(records, schema=schema)


def _share(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "–"
    value, lo, hi = (
        "–" if row[name] is None else f"{100 * row[name]:.1f}"
        for name in ("value", "ci_lo", "ci_hi")
    )
    return f"{value} [{lo}, {hi}]"
