"""pm-k of detectors: mean average precision on anchors, and on the worst frame of each set."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report.document import Cell, Column, Number, Table
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    import duckdb


_RULE = "101-point"
_Key = tuple[str, str, str, str, str]


def detection_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """Precision on anchors and on worst frames, by COCO's rule; None where nothing is stored."""
    rows = connection.execute(
        """
        SELECT model, benchmark, condition, variant, rule, metric, k, 100 * value, 100 * ci_lo,
            100 * ci_hi, n, stale
        FROM detection_metrics WHERE value IS NOT NULL ORDER BY ALL
        """
    ).fetchall()
    if not rows:
        return None
    # Whoever scored by other rules alone is shown by those.
    preferred = {row[:4] for row in rows if row[4] == _RULE}
    rows = [row for row in rows if row[4] == _RULE or row[:4] not in preferred]
    found: dict[_Key, dict[tuple[str, int], Number]] = defaultdict(dict)
    for *key, metric, k, value, lo, hi, n, stale in rows:
        model, benchmark, condition, variant, rule = key
        note = f"n = {n:,} sets; {rule}{'; stale' if stale else ''}"
        own = found[model, benchmark, condition, variant, rule]
        own[metric, int(k or 0)] = Number(value, lo, hi, note)
    body: list[list[Cell]] = []
    for (model, benchmark, condition, variant, _), own in sorted(found.items()):
        reach = max(k for _, k in own)
        by_metric = {metric: number for (metric, k), number in own.items() if k in (0, reach)}
        body.append(
            [
                model, frame_set_name(benchmark, condition), variant.replace("_", " "),
                by_metric.get("pm0_map50"), by_metric.get(f"pm{reach}_map50"),
                by_metric.get("pm_map50_drop"), Number(reach, digits=0),
            ]
        )  # fmt: skip
    columns = [
        Column("model", numeric=False), Column("frames", numeric=False),
        Column("what", numeric=False), Column("mAP", "anchors", "higher"),
        Column("mAP", "worst frames", "higher"), Column("drop", better="lower"), Column("k"),
    ]  # fmt: skip
    caption = (
        "Detectors: mean average precision at IoU 0.5, in %, on anchors and on the worst frame of "
        "each set; intervals draw videos, paired"
    )
    return Table("video-detection", columns, body, caption)
