"""The video benchmarks: pm-0 to pm-10, and the drop between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.metrics import pm_k_correct
from ops.results.measures.unit import Row, Unit

if TYPE_CHECKING:
    import duckdb

K = 10


def pm_k(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Accuracy of the anchors and of the worst frame within k, for k = 0 to 10."""
    rows = []
    for unit in units:
        frames = connection.execute(
            """
            SELECT frame_set, frame_offset, coalesce(correct, false) AS correct FROM predictions
            WHERE model = $model AND run_id = $run_id AND frame_set IS NOT NULL
            ORDER BY sample_key
            """,
            {"model": unit.model, "run_id": unit.runs[0].run_id},
        ).fetchnumpy()
        right = []
        for k in range(K + 1):
            _, correct = pm_k_correct(
                frames["frame_set"].astype(str), frames["frame_offset"], frames["correct"], k
            )
            right.append(int(correct.sum()))
            rows.append(unit.proportion(f"pm{k}", "with anchor", right[k], correct.size))
        # Paired on the same anchors: right within k implies right at 0, so the drop is the
        # share of anchors that are right alone and wrong nearby, with an exact interval.
        rows.append(unit.proportion("pm_drop", "pm0 - pm10", right[0] - right[K], correct.size))
    return rows
