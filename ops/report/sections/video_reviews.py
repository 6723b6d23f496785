"""Frozen reviews as numbers: from what was mined to what stands, and how far reviewers agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.report.document import Cell, Column, Number, Table, Text
from ops.storage import Root

if TYPE_CHECKING:
    import duckdb

    from ops.video.review import Frozen


def review_tables(root: Root, connection: duckdb.DuckDBPyConnection) -> list[Table | Text]:
    """Funnel and agreement of the reviews that the sealed sets were made of.

    A review that cannot be read is said to be so, and costs nothing else of the page.
    """
    from ops.video.review import read_frozen

    sealed = connection.execute(
        """
        SELECT condition, parameters FROM datasets WHERE benchmark = 'reviewed_frame_sets'
        ORDER BY ALL
        """
    ).fetchall()
    found: list[Frozen] = []
    blocks: list[Table | Text] = []
    for source, parameters in sealed:
        version = json.loads(parameters or "{}").get("frozen_version")
        if version is None:
            continue
        try:
            found.append(read_frozen(root, source, str(version)))
        except ShiftlakeError as error:
            blocks.append(Text(f"{source}: {error.what}", "A review cannot be shown."))
    if found:
        blocks.append(_funnel(found))
    kappas = [row for frozen in found for row in _kappas(frozen)]
    if kappas:
        columns = [
            Column("source", numeric=False), Column("pass", numeric=False),
            Column("question", numeric=False), Column("reviewers", "of each"), Column("items"),
            Column("agree", "pairs of ratings, %"), Column("by chance", "%"),
            Column("Fleiss' κ", better="higher"),
        ]  # fmt: skip
        caption = "How far reviewers agree before they talk, on what several of them judged"
        blocks.append(Table("video-agreement", columns, kappas, caption, of_models=False))
    reviewers = [row for frozen in found for row in _reviewers(frozen)]
    if reviewers:
        columns = [
            Column("source", numeric=False), Column("pass", numeric=False),
            Column("reviewer", numeric=False), Column("judged"), Column("accepted", "%"),
            Column("agrees", "with most others, %"), Column("seconds", "median"),
        ]  # fmt: skip
        caption = "How each reviewer judged; shiftlake reviews status has the names"
        blocks.append(Table("video-reviewers", columns, reviewers, caption, of_models=False))
    return blocks


def _funnel(found: list[Frozen]) -> Table:
    columns = [
        Column("source", numeric=False), Column("review", "frozen version", numeric=False),
        Column("anchors", "mined"), Column("reviewed"), Column("accepted"), Column("share", "%"),
        Column("pairs", "mined"), Column("reviewed"), Column("accepted"), Column("share", "%"),
        Column("labels", "updated"), Column("undecided", "pairs"),
    ]  # fmt: skip
    body: list[list[Cell]] = []
    for frozen in found:
        f = frozen.funnel
        body.append(
            [
                frozen.source, frozen.version,
                *_counts(f.anchors_mined, f.anchors_reviewed, f.anchors_accepted),
                *_counts(f.pairs_mined, f.pairs_reviewed, f.pairs_accepted),
                Number(f.anchors_relabelled, digits=0), Number(f.pairs_undecided, digits=0),
            ]
        )  # fmt: skip
    caption = "From what was mined to what stands"
    return Table("video-funnel", columns, body, caption, of_models=False)


def _counts(mined: int, reviewed: int, accepted: int) -> list[Number | None]:
    share = Number(100 * accepted / reviewed, digits=1) if reviewed else None
    return [*(Number(count, digits=0) for count in (mined, reviewed, accepted)), share]


def _kappas(frozen: Frozen) -> list[list[Cell]]:
    return [
        [
            frozen.source, each.stage, each.question.replace("_", " "),
            Number(each.raters, digits=0), Number(each.items, digits=0),
            Number(100 * each.observed, digits=1), Number(100 * each.expected, digits=1),
            None if each.kappa is None else Number(each.kappa),
        ]
        for each in frozen.agreement.kappas
    ]  # fmt: skip


def _reviewers(frozen: Frozen) -> list[list[Cell]]:
    # The page is handed on: people are numbers there, the same in both passes.
    people = sorted({each.reviewer for each in frozen.agreement.reviewers})
    number = {reviewer: f"{place}" for place, reviewer in enumerate(people, 1)}
    return [
        [
            frozen.source, each.stage, number[each.reviewer], Number(each.judged, digits=0),
            Number(100 * each.accepted, digits=1),
            None if each.agrees is None else Number(100 * each.agrees, digits=1),
            None if each.seconds is None else Number(each.seconds, digits=1),
        ]
        for each in frozen.agreement.reviewers
    ]  # fmt: skip
