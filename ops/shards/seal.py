"""The seal: what was written is compared with what was promised, and the manifest comes last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.shards.manifest import Manifest, SourceRef, histogram_hash, read_manifest
from ops.shards.sweep import sweep_dataset
from ops.shards.write import ShardRecord
from ops.storage import Root, paths

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec


@dataclass(frozen=True)
class Header:
    """What a manifest says beside what its shards hold; fields as in :class:`Manifest`."""

    name: str
    label_space: str
    synthetic: bool
    mask: str | None = None
    joined_to: str | None = None
    ignored: dict[str, int] = field(default_factory=dict)
    sources: tuple[SourceRef, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    renderer: dict[str, Any] | None = None
    licence: str | None = None


def header_of(
    catalog: Catalog,
    spec: DatasetSpec,
    sources: Iterable[SourceRef],
    ignored: dict[str, int],
    *,
    renderer: dict[str, Any] | None = None,
    synthetic: bool = False,
    licence: str | None = None,
) -> Header:
    """Header of a dataset of the catalog; made of synthetic images, it is synthetic as well.

    What a renderer made has the `licence` of the images it was made of. The benchmark's own is that
    of the published files, which are others.
    """
    return Header(
        name=spec.name,
        label_space=spec.label_space,
        synthetic=spec.synthetic or synthetic,
        mask=spec.mask,
        joined_to=spec.joined_to,
        ignored=ignored,
        sources=tuple(sources),
        parameters=dict(spec.parameters),
        renderer=renderer,
        licence=catalog.benchmark(spec.benchmark).licence.value if renderer is None else licence,
    )


def seal(
    root: Root,
    header: Header,
    version: str,
    records: Iterable[ShardRecord],
    *,
    written: int,
    spec: DatasetSpec | None = None,
) -> Manifest:
    """Check what was written against what was promised, and write the manifest.

    Parameters
    ----------
    root : Root
    header : Header
    version : str
    records : iterable of ShardRecord
        The notes of all shards, in any order.
    written : int
        Samples that were to be written.
    spec : DatasetSpec, optional
        The catalog's counts, where the dataset is one of the catalog's.

    Raises
    ------
    ShiftlakeError
        If samples are missing, or counts differ from the catalog's; nothing is sealed then.
    """
    records = sorted(records, key=lambda record: record.entry.name)
    histogram: Counter[int] = Counter()
    for record in records:
        histogram.update(record.labels)
    failed = tuple(sample for record in records for sample in record.failed)
    manifest = Manifest(
        name=header.name,
        benchmark=header.name.split("/", 1)[0],
        condition=header.name.split("/", 1)[1],
        version=version,
        n_samples=sum(record.entry.n_samples for record in records),
        n_failed=len(failed),
        failed=failed,
        n_classes=len(histogram),
        class_count_min=min(histogram.values(), default=0),
        class_count_max=max(histogram.values(), default=0),
        label_space=header.label_space,
        label_histogram_sha256=histogram_hash(histogram),
        mask=header.mask,
        joined_to=header.joined_to,
        ignored=header.ignored,
        sources=header.sources,
        parameters=header.parameters,
        renderer=header.renderer,
        licence=header.licence,
        synthetic=header.synthetic,
        shards=tuple(record.entry for record in records),
    )
    _expect(header.name, "samples written", written, manifest.n_samples)
    if spec is not None:
        require_counts(spec, manifest)
    for entry in manifest.shards:
        found = root.size(paths.shard(header.name, entry.name))
        _expect(f"{header.name}/{entry.name}", "bytes", entry.bytes, found)
    replaced = _sealed_before(root, header.name)
    root.write_json(paths.manifest(header.name), manifest.model_dump(mode="json"))
    sweep_dataset(root, manifest, replaced)
    return manifest


def require_counts(
    spec: DatasetSpec, manifest: Manifest, outcome: str = "nothing was sealed"
) -> None:
    """Compare a manifest with the catalog's counts; `outcome` says what their failure means.

    Raises
    ------
    ShiftlakeError
        If samples, classes or samples of each class differ from what the catalog expects.
    """
    _expect(spec.name, "samples", spec.expected, manifest.n_samples, outcome)
    if spec.mask is None or manifest.n_classes:
        what = "classes with samples"
        _expect(spec.name, what, spec.expected_classes, manifest.n_classes, outcome)
    if spec.per_class is not None and manifest.n_classes:
        found = (manifest.class_count_min, manifest.class_count_max)
        if found != (spec.per_class, spec.per_class):
            what = f"classes without {spec.per_class} samples"
            _expect(spec.name, what, 0, f"classes of {found[0]} to {found[1]} samples", outcome)


def _sealed_before(root: Root, dataset: str) -> Manifest | None:
    try:
        return read_manifest(root, dataset)
    except ShiftlakeError:
        return None


def _expect(
    where: str, what: str, expected: object, found: object, outcome: str = "nothing was sealed"
) -> None:
    if expected is not None and expected != found:
        raise ShiftlakeError(
            f"{where}: the count of {what} is wrong; {outcome}.",
            expected=expected,
            found=found,
            where=where,
            remedy="check the archive against the catalog; an overlay may state other counts",
        )
