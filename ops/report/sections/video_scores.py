"""pm-k as numbers: of every model on every set of frames, and what a review changed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.report.document import Cell, Column, Number, Table
from ops.report.figures.video_panels import FrameSets, ordered
from ops.report.marks import SEEN, SYNTHETIC
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    import duckdb

# Of the pm-k of a set the widest, which stands under one name here.
_SELECTED = """
    SELECT benchmark, condition, model, subset,
        CASE WHEN widest AND metric <> 'pm0' THEN 'pm-k' ELSE metric END AS what,
        CASE WHEN widest AND metric <> 'pm0' THEN frames_around END AS mined_k,
        100 * value AS pct, 100 * ci_lo AS lo, 100 * ci_hi AS hi, n, ci_method, seen_in_training,
        synthetic AND NOT (SELECT bool_and(synthetic) FROM pmk) AS synthetic
    FROM pmk
    WHERE value IS NOT NULL AND NOT contains(reading, 'without anchor')
        AND (widest AND reading = 'with anchor' OR metric IN ('pm0', 'pm_drop', 'pm_flip_rate'))
"""
_WHAT = ("pm0", "pm-k", "pm_drop", "pm_flip_rate")
# What is scored, from everything mined to what reviewers left.
_STEPS = {
    "all mined": "all that was mined",
    "all pairs": "accepted anchors, all frames around them",
    "all frames": "accepted anchors and frames",
}


def scores_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """pm-0, pm-k, the drop, and the share of right anchors that flip; None of nothing."""
    rows = connection.execute(
        f"FROM ({_SELECTED}) WHERE subset IN ('all frames', 'by video') ORDER BY ALL"
    ).fetchall()
    found: dict[FrameSets, dict[str, dict[str, Number]]] = defaultdict(lambda: defaultdict(dict))
    ks: dict[FrameSets, int] = {}
    clustered = {(*row[:3], row[4]): row[7:9] for row in rows if row[3] == "by video"}
    for benchmark, condition, model, subset, what, k, value, lo, hi, n, method, *flags in rows:
        if subset == "by video":
            continue
        note = f"n = {n:,}; {method}"
        if (over := clustered.get((benchmark, condition, model, what))) and None not in over:
            note += f"; {over[0]:.2f}–{over[1]:.2f} over videos"
        seen, synthetic = flags
        sign = SYNTHETIC * bool(synthetic) + SEEN * bool(seen)
        found[benchmark, condition][model][what] = Number(value, lo, hi, note, mark=sign)
        if k is not None:
            ks[benchmark, condition] = k
    if not found:
        return None
    one = len(set(ks.values())) == 1
    body: list[list[Cell]] = [
        [
            model, frame_set_name(*each),
            *([] if one else [Number(ks[each], digits=0) if each in ks else None]),
            *(found[each][model].get(what) for what in _WHAT),
        ]
        for each in ordered(found)
        for model in sorted(found[each], key=lambda model: _place(found[each][model], model))
    ]  # fmt: skip
    columns = [
        Column("model", numeric=False), Column("frames", numeric=False),
        *([] if one else [Column("k", "mined, 10 at most")]),
        *_columns(str(next(iter(ks.values()))) if one else "k"),
    ]  # fmt: skip
    caption = (
        "What is lost over neighbouring frames, in %. A model that is less often right has less to "
        "lose: the last column is of its right anchors alone"
    )
    return Table("video-scores", columns, body, caption)


def review_impact_table(connection: duckdb.DuckDBPyConnection) -> Table | None:
    """The same predictions before and after a review; None where nothing is reviewed."""
    rows = connection.execute(
        f"FROM ({_SELECTED}) WHERE benchmark = 'reviewed_frame_sets' AND subset IN {tuple(_STEPS)} "
        "ORDER BY ALL"
    ).fetchall()
    found: dict[tuple[str, str], dict[str, dict[str, Number]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    ks = set()
    for _, condition, model, subset, what, k, value, lo, hi, n, _, seen, _ in rows:
        number = Number(value, lo, hi, f"n = {n:,}", mark=SEEN * bool(seen))
        found[condition, model][subset][what] = number
        ks |= set() if k is None else {k}
    body: list[list[Cell]] = [
        [model, condition.replace("_", " "), words, *(steps[step].get(what) for what in _WHAT)]
        for (condition, model), steps in sorted(found.items())
        for step, words in _STEPS.items()
        if len(steps) > 1 and step in steps
    ]
    if not body:
        return None
    columns = [
        Column("model", numeric=False), Column("source", numeric=False),
        Column("scored", numeric=False), *_columns(str(ks.pop()) if len(ks) == 1 else "k"),
    ]  # fmt: skip
    caption = (
        "What the review changed, in %: from the first line to the second wrong labels go, from "
        "the second to the third frames that people could tell apart"
    )
    return Table("video-review", columns, body, caption)


def _columns(k: str) -> tuple[Column, ...]:
    return (
        Column("pm-0", "anchors", "higher"),
        Column(f"pm-{k}", f"all frames within {k}", "higher"),
        Column("drop", f"pm-0 to pm-{k}", "lower"),
        Column("flips", "of right anchors", "lower"),
    )


def _place(row: dict[str, Number], model: str) -> tuple[float, str]:
    best = row.get("pm-k") or row.get("pm0")
    return (-best.value if best else 0.0, model)
