"""Whether the reviewed frame sets are what was decided about what was mined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.shards.manifest import read_manifest
from ops.shards.reader import read_shard
from ops.storage import Root
from ops.video.mining.tables import read_mined
from ops.video.review.freeze import decision_rows
from ops.video.review.frozen import read_decisions, read_frozen
from ops.video.review.review import Review
from ops.video.review.seal import DATASETS

if TYPE_CHECKING:
    from ops.catalog import Catalog


def check_reviewed(root: Root, catalog: Catalog | None, source: str) -> list[str]:
    """Problems of the sealed ``reviewed_frame_sets/<source>``, one a line; none if it stands.

    Decisions are worked out again from the events and compared with what was frozen; what was
    accepted is compared with what was sealed, and with what was mined.

    Raises
    ------
    ShiftlakeError
        If something that it is made of is missing or damaged.
    """
    manifest = read_manifest(root, f"{DATASETS}/{source}")
    frozen = read_frozen(root, source, str(manifest.parameters["frozen_version"]))
    table = read_decisions(root, frozen).to_pylist()
    review = Review.open(root, source, catalog, frozen.mined_version)
    problems: list[str] = []
    earlier = review.as_of(frozen.created)
    if earlier.events_sha256 == frozen.events_sha256:
        again = decision_rows(earlier)
        problems += [
            f"{ours['sample_key']}: frozen as {theirs['state']}, its events say {ours['state']}"
            for ours, theirs in zip(again, table, strict=True)
            if ours != theirs
        ]
    accepted = {
        row["sample_key"]: tuple(row["labels"]) for row in table if row["state"] == "accepted"
    }
    mined = set(read_mined(root, source, "frames", frozen.mined_version)["sample_key"].to_pylist())
    problems += [f"{key}: accepted, but never mined" for key in sorted(accepted.keys() - mined)]
    sealed = {
        sample.key: tuple(sample.meta["labels"])
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry, hash=True)
    }
    problems += [
        f"{key}: sealed as {sealed.get(key)}, frozen as {accepted.get(key)}"
        for key in sorted(sealed.keys() | accepted.keys())
        if sealed.get(key) != accepted.get(key)
    ]
    return problems
