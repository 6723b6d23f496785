"""Whether the reviewed frame sets are what was decided about what was mined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ops.shards.manifest import read_manifest
from ops.shards.reader import read_shard
from ops.storage import Root
from ops.video.datasets import reviewed_dataset
from ops.video.mining.tables import read_mined
from ops.video.review.freeze import decision_rows
from ops.video.review.frozen import read_decisions, read_frozen
from ops.video.review.review import Review

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
    manifest = read_manifest(root, reviewed_dataset(source))
    frozen = read_frozen(root, source, str(manifest.parameters["frozen_version"]))
    table = read_decisions(root, frozen).to_pylist()
    review = Review.open(root, source, catalog, frozen.mined_version)
    problems: list[str] = []
    earlier = review.as_of(frozen.created)
    if earlier.n_events < frozen.n_events:
        problems.append(
            f"{earlier.n_events:,} decisions are there of the {frozen.n_events:,} that were frozen"
        )
    if earlier.events_sha256 == frozen.events_sha256:
        again = {row["sample_key"]: row for row in decision_rows(earlier)}
        frozen_rows = {row["sample_key"]: row for row in table}
        problems += [
            f"{key}: frozen as {_state(frozen_rows, key)}, its events say {_state(again, key)}"
            for key in sorted(again.keys() | frozen_rows.keys())
            if again.get(key) != frozen_rows.get(key)
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


def _state(rows: Mapping[str, Mapping[str, Any]], key: str) -> str:
    row = rows.get(key)
    return "nothing" if row is None else f"{row['state']} with labels {row['labels']}"
