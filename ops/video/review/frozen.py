"""A frozen review as it lies in the lake: its decisions, and what others cite."""

from __future__ import annotations

import hashlib
import io

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.storage import Root, paths
from ops.storage.stamp import folders_in
from ops.video.datasets import mined_dataset
from ops.video.review.agreement import Agreement
from ops.video.review.funnel import Funnel
from ops.video.review.suspicion import SuspicionBand

# A row a mined frame, ascending by key. An anchor is `accepted` where it is usable and `rejected`
# where it is bad; `labels` are those after the review. `why` as in PairDecision; of an anchor
# usable or bad.
DECISIONS = pa.schema(
    [
        ("sample_key", pa.string()),
        ("frame_set", pa.string()),
        ("frame_offset", pa.int16()),
        ("state", pa.string()),
        ("anchor_state", pa.string()),
        ("why", pa.string()),
        ("reasons", pa.list_(pa.string())),
        ("joint", pa.bool_()),
        ("labels", pa.list_(pa.int16())),
    ]
)
DECISIONS_FILE = "decisions.parquet"
FREEZE_FILE = "freeze.json"


class Frozen(BaseModel):
    """The seal of a frozen review.

    Attributes
    ----------
    version : str
        16 hex digits of the hash of the decisions and of the mining; what others cite. The same
        decisions have the same version, whoever came to them.
    source, mined_version, label_space : str
    created : str
        UTC time of the newest event.
    reviewers : tuple of str
        All who decided anything that counts.
    n_events : int
        Known when it was frozen.
    events_sha256 : str
        Of all of them.
    decisions_sha256 : str
        Of the table of decisions.
    n_frames : int
        Rows of that table.
    funnel : Funnel
    agreement : Agreement
    by_suspicion : tuple of SuspicionBand
        Objections by decile of suspicion, the most suspicious first.
    """

    model_config = ConfigDict(frozen=True)

    version: str
    source: str
    mined_version: str
    label_space: str
    created: str
    reviewers: tuple[str, ...]
    n_events: int
    events_sha256: str
    decisions_sha256: str
    n_frames: int
    funnel: Funnel
    agreement: Agreement
    by_suspicion: tuple[SuspicionBand, ...] = ()


def frozen_reviews(root: Root, source: str) -> list[Frozen]:
    """All frozen reviews of a source, the newest last; those of the sealed mining behind others.

    Raises
    ------
    ShiftlakeError
        If one cannot be understood.
    """
    found = [
        read_frozen(root, source, version)
        for version in folders_in(root, paths.frozen(source))
        if root.exists(paths.frozen(source, version, FREEZE_FILE))
    ]
    sealed = sealed_mining(root, source)

    def age(frozen: Frozen) -> tuple[bool, str, int, str]:
        # Decisions that were carried over or imported keep their times, so that what is frozen
        # later need not have a later one; but of one mining it knows of more of them.
        return frozen.mined_version == sealed, frozen.created, frozen.n_events, frozen.version

    return sorted(found, key=age)


def frozen_versions(root: Root, source: str) -> list[str]:
    """Versions of :func:`frozen_reviews`, in the same order."""
    return [frozen.version for frozen in frozen_reviews(root, source)]


def sealed_mining(root: Root, source: str) -> str | None:
    """Version of the sealed mining of a source; None where there is none."""
    try:
        return read_manifest(root, mined_dataset(source)).version
    except ShiftlakeError:
        return None


def read_frozen(root: Root, source: str, version: str) -> Frozen:
    """Read the seal of a frozen review.

    Raises
    ------
    ShiftlakeError
        If there is none, or it cannot be understood.
    """
    path = paths.frozen(source, version, FREEZE_FILE)
    try:
        return Frozen.model_validate(root.read_json(path))
    except FileNotFoundError:
        versions = folders_in(root, paths.frozen(source))
        raise ShiftlakeError(
            f"There is no frozen review {version} of {source}.",
            expected=f"one of {', '.join(versions)}" if versions else "a frozen review",
            found=version,
            where=root.at(path),
            remedy=f"freeze the review: shiftlake reviews freeze {source}",
        ) from None
    except ValueError as error:
        raise _damaged(root, path, "a frozen review", str(error).splitlines()[0]) from error


def read_decisions(root: Root, frozen: Frozen) -> pa.Table:
    """Read the decisions of a frozen review, compared with its seal; columns of DECISIONS.

    Raises
    ------
    ShiftlakeError
        If they are missing, or not those that were frozen.
    """
    path = paths.frozen(frozen.source, frozen.version, DECISIONS_FILE)
    try:
        data = root.read_bytes(path)
    except FileNotFoundError:
        raise _damaged(root, path, f"sha256 {frozen.decisions_sha256}", "no file") from None
    found = hashlib.sha256(data).hexdigest()
    if found != frozen.decisions_sha256:
        raise _damaged(root, path, f"sha256 {frozen.decisions_sha256}", f"sha256 {found}")
    return pq.read_table(io.BytesIO(data)).cast(DECISIONS)


def _damaged(root: Root, path: str, expected: object, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "A frozen review is damaged.",
        expected=expected,
        found=found,
        where=root.at(path),
        remedy="freeze the review again: the same decisions give the same version",
    )
