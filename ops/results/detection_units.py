"""What detections can be scored on: mined frame sets, and what reviewers accepted of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ops.errors import ShiftlakeError
from ops.inference.detections.record import (
    DetectionsRecord,
    current_detections,
    find_detections,
)
from ops.metrics.detection import RULES
from ops.metrics.detection.paired_intervals import RESAMPLES
from ops.shards import Manifest, read_manifest, sealed_datasets
from ops.storage import Root
from ops.video.datasets import MINED, REVIEWED

# Raised by one whenever the same boxes give other rows.
CODE_VERSION = "1"


@dataclass(frozen=True)
class DetectionUnit:
    """A detector's boxes on the frames of a source.

    Attributes
    ----------
    record : DetectionsRecord
    mined : Manifest
        Of the dataset the boxes are of.
    reviewed : Manifest or None
        Of the accepted frames, where only these are scored.
    """

    record: DetectionsRecord
    mined: Manifest
    reviewed: Manifest | None = None

    @property
    def scored(self) -> Manifest:
        """The dataset the numbers are about."""
        return self.reviewed or self.mined

    @property
    def inputs(self) -> str:
        """Names everything the unit's rows are computed from."""
        determinants: dict[str, Any] = {
            "code_version": CODE_VERSION,
            "model": self.record.model,
            "detections": self.record.key,
            "files": [file.sha256 for file in self.record.files],
            "dataset_version": self.scored.version,
            "rules": list(RULES),
            "resamples": RESAMPLES,
        }
        text = json.dumps(determinants, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def detection_units(root: Root) -> tuple[list[DetectionUnit], list[ShiftlakeError]]:
    """Everything that the latest detections of every model can be scored on now.

    Reviewed sets are scored where they were made over the very mining that the boxes are of.

    Returns
    -------
    list of DetectionUnit
    list of ShiftlakeError
        Records that cannot be read. Older boxes of the same model on the same dataset do not take
        their place: nobody would see that the number is not the latest.
    """
    records, damaged = find_detections(root)
    errors = list(damaged.values())
    lost = {folder.rpartition("/")[0] for folder in damaged}
    records = [each for each in records if each.folder().rpartition("/")[0] not in lost]
    if not records:
        return [], errors
    manifests = {
        name: read_manifest(root, name)
        for name in sealed_datasets(root)
        if name.partition("/")[0] in (MINED, REVIEWED)
    }
    versions = {name: manifest.version for name, manifest in manifests.items()}
    units = []
    for record in current_detections(records, versions):
        mined = manifests[record.dataset]
        units.append(DetectionUnit(record, mined))
        reviewed = manifests.get(f"{REVIEWED}/{mined.condition}")
        if reviewed and reviewed.parameters.get("mined_version") == mined.version:
            units.append(DetectionUnit(record, mined, reviewed))
    return units, errors
