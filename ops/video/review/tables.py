"""Tables over all reviews: every decision, and every frame as it was frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ops.storage import Root, paths
from ops.storage.journal import Journal
from ops.storage.stamp import folders_in
from ops.video.review.bulk import without_collection
from ops.video.review.events import read_events
from ops.video.review.frozen import DECISIONS, frozen_reviews, read_decisions, sealed_mining

REVIEW_EVENTS = pa.schema(
    [
        ("source", pa.string()),
        ("mined_version", pa.string()),
        # Whether it is about the mining that is sealed.
        ("current", pa.bool_()),
        ("id", pa.string()),
        ("kind", pa.string()),
        ("reviewer", pa.string()),
        ("at", pa.string()),
        ("subject", pa.string()),
        ("verdict", pa.string()),
        ("reasons", pa.list_(pa.string())),
        ("labels", pa.list_(pa.int16())),
        ("note", pa.string()),
        ("ms_spent", pa.int64()),
        ("shown", pa.int64()),
        ("recorded_by", pa.string()),
        ("tool_version", pa.string()),
        ("withdrawn", pa.bool_()),
    ]
)

REVIEWED_FRAMES = pa.schema(
    [
        ("source", pa.string()),
        ("mined_version", pa.string()),
        ("frozen_version", pa.string()),
        # Whether it is the newest frozen review of the mining that is sealed.
        ("current", pa.bool_()),
        *[(field.name, field.type) for field in DECISIONS],
    ]
)


def review_events(root: Root) -> pa.Table:
    """Every decision on every mining of every source, withdrawn or not; columns of REVIEW_EVENTS.

    Raises
    ------
    ShiftlakeError
        If a journal is damaged.
    """
    parts = []
    for source in folders_in(root, paths.video()):
        sealed = sealed_mining(root, source)
        for version in folders_in(root, paths.reviews(source)):
            with without_collection():
                folder = paths.review_events(source, version)
                records = Journal(root, folder).read()
                try:
                    parts.append(_events_table(records, source, version, version == sealed))
                except (KeyError, TypeError, ValueError):
                    # Says which of them is no decision, at a cost that good ones need not pay.
                    read_events(records, root.at(folder))
                    raise
    return pa.concat_tables(parts) if parts else REVIEW_EVENTS.empty_table()


def reviewed_frames(root: Root) -> pa.Table:
    """Every frame of every frozen review; columns of REVIEWED_FRAMES.

    Raises
    ------
    ShiftlakeError
        If what was frozen is damaged.
    """
    parts = []
    for source in folders_in(root, paths.video()):
        sealed = sealed_mining(root, source)
        frozen = frozen_reviews(root, source)
        current = [each.version for each in frozen if each.mined_version == sealed][-1:]
        for each in frozen:
            table = read_decisions(root, each)
            told = {
                "source": source,
                "mined_version": each.mined_version,
                "frozen_version": each.version,
                "current": each.version in current,
            }
            columns = [
                pa.array([told[field.name]] * len(table), field.type)
                if field.name in told
                else table[field.name]
                for field in REVIEWED_FRAMES
            ]
            parts.append(pa.Table.from_arrays(columns, schema=REVIEWED_FRAMES))
    return pa.concat_tables(parts) if parts else REVIEWED_FRAMES.empty_table()


def _events_table(
    records: Iterable[Mapping[str, Any]], source: str, version: str, current: bool
) -> pa.Table:
    by_id: dict[str, Mapping[str, Any]] = {}
    for record in records:
        # Sent twice to two processes, an event is in two files.
        other = by_id.setdefault(record["id"], record)
        if record.get("at", "") < other.get("at", ""):
            by_id[record["id"]] = record
    rows = sorted(by_id.values(), key=lambda record: (record.get("at", ""), record["id"]))
    withdrawals = {
        (record["subject"], record["reviewer"]) for record in rows if record["kind"] == "undo"
    }
    told: dict[str, list[Any]] = {
        "source": [source] * len(rows),
        "mined_version": [version] * len(rows),
        "current": [current] * len(rows),
        "withdrawn": [
            record["kind"] != "undo"
            and any(
                (record["id"], record.get(by)) in withdrawals for by in ("reviewer", "recorded_by")
            )
            for record in rows
        ],
    }
    empty: dict[str, Any] = {"reasons": [], "labels": [], "note": "", "tool_version": ""}
    arrays = [
        pa.array(
            told[field.name]
            if field.name in told
            else [record.get(field.name, empty.get(field.name)) for record in rows],
            field.type,
        )
        for field in REVIEW_EVENTS
    ]
    return pa.Table.from_arrays(arrays, schema=REVIEW_EVENTS)
