"""Freezing: the decisions of a review as they are now, under a version that others can cite."""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.storage import Root, paths
from ops.video.review.agreement import agreement
from ops.video.review.frozen import (
    DECISIONS,
    DECISIONS_FILE,
    FREEZE_FILE,
    Frozen,
    frozen_versions,
    read_frozen,
)
from ops.video.review.funnel import Funnel, funnel
from ops.video.review.review import Review
from ops.video.review.reviewed import Reviewed
from ops.video.review.states import AnchorState, labels_of
from ops.video.review.suspicion import by_suspicion
from ops.video.review.votes import PASSES

if TYPE_CHECKING:
    from ops.catalog import Catalog

__all__ = ["Frozen", "decision_rows", "freeze", "frozen_versions", "read_frozen", "version_of_rows"]

_ANCHOR_STATE: dict[AnchorState, str] = {"usable": "accepted", "bad": "rejected"}


def freeze(
    root: Root, source: str, catalog: Catalog | None, *, allow_pending: bool = False
) -> Frozen:
    """Freeze the review of a source.

    Parameters
    ----------
    root : Root
    source : str
    catalog : Catalog, optional
    allow_pending : bool
        Freeze although something is undecided; it is then not in the reviewed set.

    Returns
    -------
    Frozen

    Raises
    ------
    ShiftlakeError
        If something is pending or contested, or nothing was decided at all.
    """
    review = Review.open(root, source, catalog)
    counted = funnel(review)
    _require_decided(review, counted, allow_pending)
    rows = decision_rows(review)
    version = version_of_rows(review.mined_version, rows)
    table = pa.Table.from_pylist(rows, DECISIONS)
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd")
    votes = review.decisions().votes
    frozen = Frozen(
        version=version,
        source=source,
        mined_version=review.mined_version,
        label_space=review.label_space,
        created=review.events[-1].at,
        reviewers=tuple(sorted({name for kind in PASSES for name in votes.done(kind)})),
        n_events=review.n_events,
        events_sha256=review.events_sha256,
        decisions_sha256=hashlib.sha256(data.getvalue()).hexdigest(),
        n_frames=len(rows),
        funnel=counted,
        agreement=agreement(review),
        by_suspicion=by_suspicion(review),
    )
    root.write_bytes(paths.frozen(source, version, DECISIONS_FILE), data.getvalue())
    root.write_json(paths.frozen(source, version, FREEZE_FILE), frozen.model_dump(mode="json"))
    return frozen


def decision_rows(review: Reviewed) -> list[dict[str, Any]]:
    """What is decided about every mined frame, ascending by key; columns of DECISIONS."""
    decisions = review.decisions()
    rows: list[dict[str, Any]] = []
    for item in review.anchors:
        anchor = decisions.anchor(item.frame_set)
        rows.append(
            {
                "sample_key": item.sample_key,
                "frame_set": item.frame_set,
                "frame_offset": 0,
                "state": _ANCHOR_STATE.get(anchor.state, "pending"),
                "anchor_state": anchor.state,
                "why": anchor.state if anchor.state in _ANCHOR_STATE else "",
                "reasons": [],
                "joint": anchor.joint,
                "labels": list(labels_of(item, anchor)),
            }
        )
    for pair in review.pairs:
        anchor, decision = decisions.anchor(pair.frame_set), decisions.pair(pair.sample_key)
        stands = decisions.stands(pair.sample_key)
        rows.append(
            {
                "sample_key": pair.sample_key,
                "frame_set": pair.frame_set,
                "frame_offset": pair.frame_offset,
                "state": {True: "accepted", False: "rejected", None: "pending"}[stands],
                "anchor_state": anchor.state,
                "why": decision.why,
                "reasons": list(decision.reasons),
                "joint": decision.joint,
                "labels": list(labels_of(pair, anchor)),
            }
        )
    return sorted(rows, key=lambda row: row["sample_key"])


def version_of_rows(mined_version: str, rows: list[dict[str, Any]]) -> str:
    """Version of decisions: 16 hex digits of their hash."""
    content = hashlib.sha256(f"1 {mined_version}\n".encode())
    for row in rows:
        content.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return content.hexdigest()[:16]


def _require_decided(review: Review, counted: Funnel, allow_pending: bool) -> None:
    undecided = counted.anchors_undecided + counted.pairs_undecided
    if review.n_events and (allow_pending or not undecided):
        return
    if not review.n_events:
        raise ShiftlakeError(
            f"The review of {review.source} is not finished: it has not begun.",
            expected="a decision",
            found="none",
            where=f"review of {review.source}, mining {review.mined_version}",
            remedy=f"begin: shiftlake review {review.source}; what was decided about an older "
            "mining is taken over by shiftlake reviews carry",
        )
    decisions = review.decisions()
    contested = decisions.contested()
    first = (
        contested[0]
        if contested
        else next(
            (
                item.frame_set
                for item in review.anchors
                if decisions.anchor(item.frame_set).state == "pending"
            ),
            next(
                (p.sample_key for p in review.pairs if decisions.stands(p.sample_key) is None), ""
            ),
        )
    )
    raise ShiftlakeError(
        f"The review of {review.source} is not finished.",
        expected="every anchor and every pair decided",
        found=f"{counted.anchors_undecided:,} anchors and {counted.pairs_undecided:,} pairs "
        f"undecided, {len(contested):,} of these contested; first {first}",
        where=f"review of {review.source}, mining {review.mined_version}",
        remedy=f"go on: shiftlake review {review.source}; or freeze with --allow-pending, which "
        "leaves them out",
    )
