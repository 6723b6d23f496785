"""The seal: what was written is compared with what was promised, and the manifest comes last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.shards.manifest import Manifest, SourceRef, histogram_hash
from ops.shards.write import ShardRecord
from ops.storage import Root, paths

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec


def seal(
    root: Root,
    catalog: Catalog,
    spec: DatasetSpec,
    version: str,
    records: Iterable[ShardRecord],
    *,
    sources: Sequence[SourceRef],
    ignored: dict[str, int],
    expected: int,
) -> Manifest:
    """Check what was written against what was promised, and write the manifest.

    Raises
    ------
    ShiftlakeError
        If samples are missing, or counts differ from the catalog's; nothing is sealed then.
    """
    records = sorted(records, key=lambda record: record.entry.name)
    histogram: Counter[int] = Counter()
    for record in records:
        histogram.update(record.labels)
    n_samples = sum(record.entry.n_samples for record in records)
    _expect(spec.name, "samples written", expected, n_samples)
    _expect(spec.name, "samples", spec.expected, n_samples)
    if spec.mask is None or histogram:
        _expect(spec.name, "classes with samples", spec.expected_classes, len(histogram))
    if spec.per_class is not None:
        uneven = {label: n for label, n in histogram.items() if n != spec.per_class}
        _expect(spec.name, f"classes without {spec.per_class} samples", 0, len(uneven))
    for record in records:
        found = root.size(paths.shard(spec.name, record.entry.name))
        _expect(f"{spec.name}/{record.entry.name}", "bytes", record.entry.bytes, found)
    failed = tuple(sample for record in records for sample in record.failed)
    manifest = Manifest(
        name=spec.name,
        benchmark=spec.name.split("/", 1)[0],
        condition=spec.name.split("/", 1)[1],
        version=version,
        n_samples=n_samples,
        n_failed=len(failed),
        failed=failed,
        n_classes=len(histogram),
        class_count_min=min(histogram.values(), default=0),
        class_count_max=max(histogram.values(), default=0),
        label_space=spec.label_space,
        label_histogram_sha256=histogram_hash(histogram),
        mask=spec.mask,
        joined_to=spec.joined_to,
        ignored=ignored,
        sources=tuple(sources),
        parameters=dict(spec.parameters),
        licence=catalog.benchmark(spec.benchmark).licence.value,
        synthetic=spec.synthetic,
        shards=tuple(record.entry for record in records),
    )
    root.write_json(paths.manifest(spec.name), manifest.model_dump(mode="json"))
    _sweep(root, manifest)
    return manifest


def _sweep(root: Root, manifest: Manifest) -> None:
    """Remove what the new seal made superfluous: notes, other versions, what the killed left."""
    folder = paths.dataset(manifest.name)
    current = {paths.shard(manifest.name, entry.name) for entry in manifest.shards}
    current.add(paths.manifest(manifest.name))
    for path in root.list(folder):
        below = path.removeprefix(f"{folder}/").split("/")
        if below[0].startswith(paths.UNSEALED):
            root.remove_folder(f"{folder}/{below[0]}")
        elif len(below) == 1 and path not in current:
            root.remove(path)
    root.sweep(folder)


def _expect(where: str, what: str, expected: object, found: object) -> None:
    if expected is not None and expected != found:
        raise ShiftlakeError(
            f"{where}: the count of {what} is wrong; nothing was sealed.",
            expected=expected,
            found=found,
            where=where,
            remedy="check the archive against the catalog; an overlay may state other counts",
        )
