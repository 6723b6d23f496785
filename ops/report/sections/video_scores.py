"""pm-k as numbers: of every model on every set of frames, and what a review changed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ops.report.document import Cell, Column, Number, Table
from ops.report.figures.video_panels import FrameSets, ordered
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    import duckdb

_METRICS = ("pm0", "pm10", "pm_drop", "pm_flip_rate")
_COLUMNS = (
    Column("pm-0", "anchors", "higher"),
    Column("pm-10", "all frames within 10", "higher"),
    Column("drop", "pm-0 to pm-10", "lower"),
    Column("flips", "of right anchors", "lower"),
)
_READINGS = "('with anchor', 'pm0 - pm10', 'drop / pm0, k = 10')"
# What is scored, from everything mined to what reviewers left.
_STEPS = {
    "all mined": "all that was mined",
    "all pairs": "accepted anchors, all frames around them",
    "all frames": "accepted anchors and frames",
}


def scores_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """pm-0, pm-10, the drop, and the share of right anchors that flip; None of nothing."""
    rows = connection.execute(
        f"""
        SELECT benchmark, condition, model, metric, subset, 100 * value, 100 * ci_lo, 100 * ci_hi,
            n, ci_method
        FROM pmk
        WHERE metric IN {_METRICS} AND reading IN {_READINGS} AND value IS NOT NULL
            AND subset IN ('all frames', 'by video')
        ORDER BY ALL
        """
    ).fetchall()
    found: dict[FrameSets, dict[str, dict[str, Number]]] = defaultdict(lambda: defaultdict(dict))
    clustered = {tuple(row[:4]): row[6:8] for row in rows if row[4] == "by video"}
    for benchmark, condition, model, metric, subset, value, lo, hi, n, method in rows:
        if subset == "by video":
            continue
        note = f"n = {n:,}; {method}"
        if (over := clustered.get((benchmark, condition, model, metric))) and None not in over:
            note += f"; {over[0]:.2f}–{over[1]:.2f} over videos"
        found[benchmark, condition][model][metric] = Number(value, lo, hi, note)
    if not found:
        return None
    body: list[list[Cell]] = [
        [model, frame_set_name(*each), *(found[each][model].get(metric) for metric in _METRICS)]
        for each in ordered(found)
        for model in sorted(found[each], key=lambda model: _place(found[each][model], model))
    ]
    columns = [Column("model", numeric=False), Column("frames", numeric=False), *_COLUMNS]
    caption = (
        "What is lost over neighbouring frames, in %. A model that is less often right has less to "
        "lose: the last column is of its right anchors alone"
    )
    return Table("video-scores", columns, body, caption)


def review_impact_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """The same predictions before and after a review; None where nothing is reviewed."""
    rows = connection.execute(
        f"""
        SELECT condition, model, subset, metric, 100 * value, 100 * ci_lo, 100 * ci_hi, n
        FROM pmk
        WHERE benchmark = 'reviewed_frame_sets' AND metric IN {_METRICS} AND value IS NOT NULL
            AND reading IN {_READINGS} AND subset IN {tuple(_STEPS)}
        ORDER BY ALL
        """
    ).fetchall()
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for condition, model, subset, metric, value, lo, hi, n in rows:
        found[condition, model][subset][metric] = Number(value, lo, hi, f"n = {n:,}")
    body: list[list[Cell]] = [
        [model, condition.replace("_", " "), words, *(steps[step].get(m) for m in _METRICS)]
        for (condition, model), steps in sorted(found.items())
        for step, words in _STEPS.items()
        if len(steps) > 1 and step in steps
    ]
    if not body:
        return None
    columns = [
        Column("model", numeric=False), Column("source", numeric=False),
        Column("scored", numeric=False), *_COLUMNS,
    ]  # fmt: skip
    caption = (
        "What the review changed, in %: from the first line to the second wrong labels go, from "
        "the second to the third frames that people could tell apart"
    )
    return Table("video-review", columns, body, caption)


def _place(row: dict[str, Number], model: str) -> tuple[float, str]:
    best = row.get("pm10") or row.get("pm0")
    return (-best.value if best else 0.0, model)
