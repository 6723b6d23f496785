"""What is being published: files as they are written, and the truth about every picture.

The truth is noted where a picture is drawn, so it does not depend on how an archive is read later.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ops.miniature.sizes import Size

Truth = dict[str, dict[str, list[int]]]


@dataclass
class Publication:
    """The archives of one build.

    Attributes
    ----------
    folder : Path
        Where the files go, as `<folder>/files/<benchmark>/<file name>`.
    size : Size
        How many pictures.
    seed : int
        Key of all randomness.
    files : list of dict
        Facts of each written file: benchmark, id, name, bytes and hashes.
    truth : dict
        Dataset -> path in the archive -> accepted labels.
    counts : dict
        Dataset -> expected counts, where they cannot be told from the truth.
    """

    folder: Path
    size: Size
    seed: int
    files: list[dict[str, Any]] = field(default_factory=list)
    truth: Truth = field(default_factory=dict)
    counts: dict[str, dict[str, int | None]] = field(default_factory=dict)

    def put(self, benchmark: str, file_id: str, name: str, content: bytes) -> None:
        """Write one published file and note its facts."""
        path = self.folder / "files" / benchmark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        blob = b"blob %d\0" % len(content) + content
        self.files.append(
            {
                "benchmark": benchmark,
                "id": file_id,
                "name": name,
                "bytes": len(content),
                "md5": hashlib.md5(content, usedforsecurity=False).hexdigest(),
                "sha1": hashlib.sha1(content, usedforsecurity=False).hexdigest(),
                "sha256": hashlib.sha256(content).hexdigest(),
                "git_blob_sha1": hashlib.sha1(blob, usedforsecurity=False).hexdigest(),
            }
        )

    def note(self, dataset: str, member: str, labels: list[int]) -> None:
        """Note the accepted labels of one picture."""
        self.truth.setdefault(dataset, {})[member] = labels

    def take(self, other: Publication) -> None:
        """Add what another publication of the same build has written and noted."""
        self.files += other.files
        for dataset, members in other.truth.items():
            self.truth.setdefault(dataset, {}).update(members)
        self.counts |= other.counts

    def expected(self) -> dict[str, dict[str, int | None]]:
        """Return the expected counts of every dataset."""
        found: dict[str, dict[str, int | None]] = {}
        for dataset, members in self.truth.items():
            per_class = Counter(label for labels in members.values() for label in labels)
            one_label = all(len(labels) == 1 for labels in members.values())
            even = one_label and len(set(per_class.values())) == 1
            found[dataset] = {
                "expected": len(members),
                "expected_classes": len(per_class),
                "per_class": next(iter(per_class.values())) if even else None,
            }
        return found | self.counts
