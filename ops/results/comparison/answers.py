"""The answers of two models to the same images, side by side in one temporary table.

Every kind of answer becomes the same table ``answers``, a row an image (an anchor with its
frames, a sequence): how often each model is wrong on it, out of how many times. All else is
counted from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ops.results.comparison.quantities import FURTHEST_T5D
from ops.results.comparison.runs import PairOfRuns
from ops.results.runs import Run
from ops.results.sql_text import quoted
from ops.video.datasets import MINED, REVIEWED

if TYPE_CHECKING:
    import duckdb

# `p` is what the model is sure of; of a sequence, how much it moves.
_PLAIN = """
    SELECT dataset, sample_key AS image, source_key, labels[1] AS label,
        ({right} IS NOT true)::INTEGER AS wrong, 1 AS out_of, {p}::DOUBLE AS p
    FROM predictions WHERE {where} AND correct IS NOT NULL
"""
_REAL = """
    SELECT dataset, sample_key AS image, source_key, x.labels[1] AS label,
        ({right} IS NOT true)::INTEGER AS wrong, 1 AS out_of, p_max::DOUBLE AS p
    FROM predictions AS x JOIN real_labels AS r USING (source_key)
    WHERE {where} AND len(r.labels) > 0
"""
# An unreadable frame is wrong, and takes its anchor with it.
_PM = """
    SELECT dataset, frame_set AS image, min(source_key) AS source_key,
        max(labels[1]) FILTER (WHERE frame_offset = 0) AS label,
        bool_or(correct IS NOT true)::INTEGER AS wrong, 1 AS out_of,
        max(p_max) FILTER (WHERE frame_offset = 0)::DOUBLE AS p
    FROM predictions
    WHERE {where} AND frame_set IS NOT NULL AND abs(frame_offset) <= {k}
    GROUP BY dataset, frame_set
"""
# The same frames under the labels and in the sets that a review left.
_REVIEWED_PM = """
    SELECT {mined} || '/' || condition AS dataset, frame_set AS image, min(video) AS source_key,
        max(labels[1]) FILTER (WHERE frame_offset = 0) AS label,
        bool_or(NOT correct)::INTEGER AS wrong, 1 AS out_of,
        max(p_max) FILTER (WHERE frame_offset = 0)::DOUBLE AS p
    FROM pmk_frames
    WHERE benchmark = {reviewed} AND {where} AND abs(frame_offset) <= {k}
    GROUP BY condition, frame_set
"""
_MOVED = """
    SELECT dataset, f.frame_set AS image, f.source_key, labels[1] AS label,
        f.moved::INTEGER AS wrong, (f.pairs * {most})::INTEGER AS out_of, f.moved::DOUBLE AS p
    FROM (
        SELECT benchmark || '/' || condition AS dataset, frame_set, source_key, pairs,
            {moved} AS moved
        FROM flips WHERE {moved_where} AND {moved} IS NOT NULL
    ) AS f
    JOIN (
        SELECT dataset, frame_set, labels FROM predictions WHERE {where} AND frame_offset = 0
    ) AS first_frame USING (dataset, frame_set)
"""
# A column of `flips`, and its largest value for one pair of frames.
_OF_PAIRS = {"flips": ("flips", 1), "t5d": ("top5_distance", FURTHEST_T5D)}
_RIGHT = {
    "top1": ("correct", "p_max"),
    "top5": ("correct5", "p_max"),
    "masked": ("correct_masked", "p_max_masked"),
    "real_top1": ("list_contains(r.labels, pred)", ""),
    "real_top5": ("list_has_any(r.labels, top5_idx)", ""),
}
# A sample that only one of two runs has a row for is wrong in the other.
_ANSWERS = """
    CREATE OR REPLACE TEMPORARY TABLE answers AS
    SELECT dataset, image, coalesce(x.source_key, y.source_key) AS source_key,
        coalesce(x.label, y.label) AS label, coalesce(x.out_of, y.out_of) AS out_of,
        coalesce(x.wrong, y.out_of) AS wrong_first, coalesce(y.wrong, x.out_of) AS wrong_second,
        y.p AS p_second
    FROM ({first}) AS x FULL JOIN ({second}) AS y USING (dataset, image)
"""

# Else what corruption adds would be a difference between images, where only some were corrupted.
_ALSO_ELSEWHERE = """
    DELETE FROM answers WHERE dataset IN ({names}) AND source_key NOT IN (
        SELECT source_key FROM answers WHERE dataset NOT IN ({names}) AND source_key IS NOT NULL
    )
"""


def lay_side_by_side(
    connection: duckdb.DuckDBPyConnection,
    answer: str,
    pairs: Sequence[PairOfRuns],
    against: Collection[str] = (),
) -> None:
    """Fill the temporary table ``answers`` from the runs of two models.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        With the views over a root.
    answer : str
        As in :class:`ops.results.comparison.quantities.Quantity`.
    pairs : sequence of PairOfRuns
        One a dataset, all of the same two models.
    against : collection of str
        Datasets of clean images that others are taken against: of them only images are kept that
        are in the others, too.

    Notes
    -----
    Columns dataset, image, source_key, label, out_of, wrong_first, wrong_second and p_second; all
    counts are whole, so that no sum over them depends on the order of the rows.
    """
    sides = ([pair.first for pair in pairs], [pair.second for pair in pairs])
    first, second = (_answers(answer, runs) for runs in sides)
    connection.execute(_ANSWERS.format(first=first, second=second))
    if against:
        names = ", ".join(quoted(name) for name in sorted(against))
        connection.execute(_ALSO_ELSEWHERE.format(names=names))


def _answers(answer: str, runs: Sequence[Run]) -> str:
    where = only(runs)
    if answer in _OF_PAIRS:
        # The conditions of a view over groups: what it groups by.
        of = ", ".join(quoted(run.condition) for run in runs)
        moved_where = (
            f"model = {quoted(runs[0].model)} AND benchmark = {quoted(runs[0].benchmark)} "
            f"AND condition IN ({of})"
        )
        moved, most = _OF_PAIRS[answer]
        return _MOVED.format(where=where, moved_where=moved_where, moved=moved, most=most)
    if answer in _RIGHT:
        right, p = _RIGHT[answer]
        return (_PLAIN if p else _REAL).format(where=where, right=right, p=p)
    if answer.startswith("reviewed_pm"):
        return _REVIEWED_PM.format(
            mined=quoted(MINED),
            reviewed=quoted(REVIEWED),
            where=_only(runs, ("run_id", "condition")),
            k=int(answer.removeprefix("reviewed_pm")),
        )
    return _PM.format(where=where, k=int(answer.removeprefix("pm")))


def only(runs: Sequence[Run]) -> str:
    """SQL condition on ``predictions`` that holds for the rows of some runs of one model.

    All four columns are part of the names of files, so that no other file is opened.
    """
    return _only(runs, ("run_id", "benchmark", "condition"))


def _only(runs: Sequence[Run], columns: Sequence[str]) -> str:
    found = [f"model = {quoted(runs[0].model)}"]
    for column in columns:
        values = sorted({quoted(getattr(run, column)) for run in runs})
        found.append(f"{column} IN ({', '.join(values)})")
    return " AND ".join(found)
