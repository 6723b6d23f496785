"""The video benchmarks: pm-0 to pm-10, and the drop between them."""

from __future__ import annotations

from ops.metrics import pm_k_correct
from ops.results.measures.rows import rows_of
from ops.results.measures.source import Source
from ops.results.measures.unit import Row, Unit

K = 10

_COLUMNS = "p.frame_set, p.frame_offset, coalesce(p.correct, false) AS correct"


def pm_k(source: Source, units: list[Unit]) -> list[Row]:
    """Accuracy of the anchors and of the worst frame within k, for k = 0 to 10."""
    rows = []
    for unit in units:
        frames = rows_of(source.connection, unit.runs[0], _COLUMNS, where="p.frame_set IS NOT NULL")
        names, right = frames["frame_set"].astype(str), []
        for k in range(K + 1):
            _, correct = pm_k_correct(names, frames["frame_offset"], frames["correct"], k)
            right.append(int(correct.sum()))
            rows.append(unit.proportion(f"pm{k}", "with anchor", right[k], correct.size))
        # Paired on the same anchors: right within k implies right at 0, so the drop is the
        # share of anchors that are right alone and wrong nearby, with an exact interval.
        rows.append(unit.proportion("pm_drop", "pm0 - pm10", right[0] - right[K], correct.size))
    return rows
