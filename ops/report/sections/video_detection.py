"""pm-k of detectors: mean average precision on anchors, and on the worst frame of each set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.report.document import Cell, Column, Number, Table
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    import duckdb


def detection_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """Every stored metric of detectors on video; None where there is none."""
    import duckdb

    try:
        rows = connection.execute(
            """
            SELECT model, benchmark, condition, metric, variant, 100 * value, 100 * ci_lo,
                100 * ci_hi, n
            FROM detection_metrics WHERE value IS NOT NULL ORDER BY ALL
            """
        ).fetchall()
    except duckdb.CatalogException:
        # A lake whose views are of before detections were scored.
        return None
    if not rows:
        return None
    columns = [
        Column("model", numeric=False), Column("frames", numeric=False),
        Column("metric", numeric=False), Column("variant", numeric=False), Column("value", "%"),
    ]  # fmt: skip
    body: list[list[Cell]] = [
        [model, frame_set_name(benchmark, condition), metric.replace("_", " "), variant,
         Number(value, lo, hi, f"n = {n:,}" if n is not None else "")]
        for model, benchmark, condition, metric, variant, value, lo, hi, n in rows
    ]  # fmt: skip
    caption = "Detectors: mean average precision at IoU 0.5 on anchors and on the worst frames"
    return Table("video-detection", columns, body, caption)
