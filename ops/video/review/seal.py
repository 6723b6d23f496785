"""The reviewed frame sets as a dataset: labels of the accepted frames, over the mined ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.shards.manifest import Manifest, read_manifest, version_of
from ops.shards.sample import Sample
from ops.shards.seal import Header, seal
from ops.shards.write import publish_shard
from ops.storage import Root, paths
from ops.video.datasets import REVIEWED, mined_dataset, reviewed_dataset
from ops.video.mining.tables import read_mined
from ops.video.review.frozen import (
    DECISIONS_FILE,
    Frozen,
    frozen_versions,
    read_decisions,
    read_frozen,
)
from ops.video.review.refused import OlderMining

if TYPE_CHECKING:
    from ops.catalog import Catalog

_PER_SHARD = 10_000
# Raised by one whenever the same decisions make other samples.
_FORM = 1


def seal_reviewed(
    root: Root, catalog: Catalog, source: str, version: str | None = None
) -> Manifest:
    """Seal ``reviewed_frame_sets/<source>``: the accepted frames of a frozen review.

    Its samples hold no image; their keys are those of the mined frames, which predictions are
    about. A sample's JSON member has the labels after the review, frame set and offset.

    Parameters
    ----------
    root : Root
    catalog : Catalog
        With the label space of the source.
    source : str
    version : str, optional
        Of the frozen review; the newest by default.

    Returns
    -------
    Manifest
        `joined_to` the mined frames; its `parameters` name both versions.

    Raises
    ------
    OlderMining
        If it was frozen over another mining than the sealed one.
    ShiftlakeError
        If nothing is frozen, nothing was accepted, or a file is damaged.
    """
    if version is None:
        version = next(reversed(frozen_versions(root, source)), None)
    if version is None:
        raise ShiftlakeError(
            f"No review of {source} is frozen.",
            expected="a frozen review",
            found="none",
            where=root.at(paths.frozen(source)),
            remedy=f"freeze the review: shiftlake reviews freeze {source}",
        )
    frozen = read_frozen(root, source, version)
    mined = read_manifest(root, mined_dataset(source))
    if frozen.mined_version != mined.version:
        raise OlderMining(root, source, frozen.mined_version)
    samples = list(_samples(root, frozen))
    if not samples:
        raise ShiftlakeError(
            f"The frozen review {version} of {source} accepts nothing.",
            expected="an accepted anchor",
            found="none",
            where=root.at(paths.frozen(source, version, DECISIONS_FILE)),
            remedy=f"review the source: shiftlake review {source}; then freeze again",
        )
    name = reviewed_dataset(source)
    parameters = {"mined_version": mined.version, "frozen_version": version}
    header = Header(
        name=name,
        label_space=mined.label_space,
        synthetic=mined.synthetic,
        joined_to=mined.name,
        sources=(mined.as_source,),
        parameters=parameters,
        licence=mined.licence,
    )
    made_of = {"name": name, "form": _FORM, "label_space": mined.label_space, **parameters}
    dataset_version = version_of(made_of)
    records = [
        publish_shard(
            root,
            name,
            dataset_version,
            f"{name.replace('/', '-')}-{dataset_version[:8]}-{number:06d}.tar",
            part,
        )
        for number, part in enumerate(_parts(samples))
    ]
    return seal(root, header, dataset_version, records, written=len(samples))


def _samples(root: Root, frozen: Frozen) -> Iterator[Sample]:
    frames = read_mined(root, frozen.source, "frames").select(["sample_key", "video"])
    videos = dict(zip(frames["sample_key"].to_pylist(), frames["video"].to_pylist(), strict=True))
    for row in read_decisions(root, frozen).to_pylist():
        if row["state"] == "accepted":
            meta: dict[str, Any] = {
                "benchmark": REVIEWED,
                "condition": frozen.source,
                "source_key": videos[row["sample_key"]],
                "source_file": DECISIONS_FILE,
                "labels": row["labels"],
                "frame_set": row["frame_set"],
                "frame_offset": row["frame_offset"],
                "state": row["state"],
            }
            yield Sample(row["sample_key"], None, "jpg", None, meta)


def _parts(samples: list[Sample]) -> Iterator[list[Sample]]:
    """Samples shard by shard; a set never lies in two."""
    part: list[Sample] = []
    for _, members in groupby(samples, key=lambda sample: sample.meta["frame_set"]):
        found = list(members)
        if part and len(part) + len(found) > _PER_SHARD:
            yield part
            part = []
        part += found
    yield part
