"""From verified archives to sealed datasets: index, plan, write in parallel, seal.

A build may stop anywhere. What was published stays, and the next build writes only what is
missing; the bytes do not depend on how often it stopped or on how many workers it had.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.fetch import local_source, read_receipt
from ops.parallel import map_shards
from ops.shards.layouts import LAYOUTS, Layout
from ops.shards.manifest import (
    DatasetMissing,
    Manifest,
    SourceRef,
    histogram_hash,
    read_manifest,
    version_of,
)
from ops.shards.plan import Plan, ShardSize, plan_shards
from ops.shards.write import ShardRecord, ShardTask, write_shard
from ops.storage import Root, paths

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec, SourceFile

Progress = Callable[[str, int, int], None]
Log = Callable[[str], None]


def build(
    root: Root,
    catalog: Catalog,
    dataset: str,
    *,
    workers: int | None = None,
    size: ShardSize | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
) -> Manifest:
    """Build and seal one dataset; return at once if it is sealed in this version.

    See :func:`build_many`.
    """
    options = {"workers": workers, "size": size, "progress": progress, "log": log}
    return build_many(root, catalog, [dataset], **options)[0]  # type: ignore[arg-type]


def build_many(
    root: Root,
    catalog: Catalog,
    datasets: Sequence[str],
    *,
    workers: int | None = None,
    size: ShardSize | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
) -> list[Manifest]:
    """Build and seal datasets; those made of the same archive share one pass over it.

    Parameters
    ----------
    root : Root
        Holds the verified archives, and takes the shards.
    catalog : Catalog
        Says what the datasets are made of.
    datasets : sequence of str
        Names, such as ``imagenet_c/fog/3``.
    workers : int, optional
        Processes; the usable CPUs by default. The result does not depend on it.
    size : ShardSize, optional
        When a shard is full.
    progress : callable, optional
        Called as ``progress(dataset, samples done, samples in all)``.
    log : callable, optional
        Takes a line of text now and then.

    Returns
    -------
    list of Manifest
        In the order of `datasets`.

    Raises
    ------
    ShiftlakeError
        If a source is missing, cut, hostile or of the wrong content; no manifest is written
        then, and shards already finished stay for the next build.
    """
    size = size or ShardSize()
    done: dict[str, Manifest] = {}
    specs = [catalog.dataset(name) for name in datasets]
    for _, group in groupby(specs, key=lambda spec: (spec.layout, _inputs(spec))):
        together = list(group)
        sources, archives, side = _sources(root, catalog, together[0])
        builds = []
        for spec in together:
            version = _version(spec, sources, size)
            sealed = _sealed(root, spec.name, version)
            if sealed is not None:
                done[spec.name] = sealed
            else:
                builds.append((spec, version))
        if not builds:
            continue
        layouts = [LAYOUTS[spec.layout](spec, side) for spec, _ in builds]
        spool = _spool(root)
        try:
            plans = _plan(layouts, archives(), spool, size)
            for (spec, version), layout, plan in zip(builds, layouts, plans, strict=True):
                records = _write(root, version, layout, plan, workers, progress, log)
                done[spec.name] = seal(
                    root, catalog, spec, version, records, sources=sources, ignored=plan.ignored,
                    expected=plan.n_samples,
                )  # fmt: skip
                if log:
                    log(f"{spec.name}: sealed {plan.n_samples:,} samples as {version}")
        finally:
            spool.unlink(missing_ok=True)
    return [done[spec.name] for spec in specs]


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


def expected_version(
    root: Root, catalog: Catalog, dataset: str, *, size: ShardSize | None = None
) -> str:
    """Version the dataset would have if it were built now from the sources at hand.

    Raises
    ------
    ShiftlakeError
        If a source is missing.
    """
    spec = catalog.dataset(dataset)
    return _version(spec, _sources(root, catalog, spec)[0], size or ShardSize())


def _inputs(spec: DatasetSpec) -> tuple[str, ...]:
    return (*spec.files, *spec.derived_from)


def _sources(
    root: Root, catalog: Catalog, spec: DatasetSpec
) -> tuple[list[SourceRef], Callable[[], list[Path]], dict[str, bytes]]:
    """What a dataset is made of: references, local archives on demand, small side files."""
    refs: list[SourceRef] = []
    files: list[SourceFile] = []
    for file_id in spec.files:
        file = catalog.file(spec.benchmark, file_id)
        receipt = read_receipt(root, file)
        if receipt is None:
            raise ShiftlakeError(
                f"{spec.name}: a source is missing.",
                expected=f"a verified copy of {file.name}",
                found="no receipt",
                where=root.at(paths.source(file.benchmark, file.name)),
                remedy=f"shiftlake fetch {file.benchmark}, or shiftlake add FILE",
            )
        files.append(file)
        refs.append(
            SourceRef(
                benchmark=file.benchmark,
                file=file.id,
                name=file.name,
                sha256=receipt.sha256,
                bytes=receipt.bytes,
            )
        )
    side = {file.id: root.read_bytes(paths.source(file.benchmark, file.name)) for file in files[1:]}
    if not spec.derived_from:
        return refs, lambda: [local_source(root, files[0])], side
    shards: list[str] = []
    for name in spec.derived_from:
        manifest = read_manifest(root, name)
        refs.append(
            SourceRef(
                benchmark=manifest.benchmark,
                file=manifest.condition,
                name=manifest.name,
                sha256=manifest.version,
                bytes=manifest.bytes,
            )
        )
        shards += [paths.shard(name, entry.name) for entry in manifest.shards]
    return refs, lambda: [root.local_copy(shard) for shard in shards], side


def _version(spec: DatasetSpec, sources: Sequence[SourceRef], size: ShardSize) -> str:
    return version_of(
        {
            "name": spec.name,
            "layout": spec.layout,
            "parameters": dict(spec.parameters),
            "mask": spec.mask,
            "sources": [ref.sha256 for ref in sources],
            "size": [size.bytes, size.samples],
        }
    )


def _sealed(root: Root, dataset: str, version: str) -> Manifest | None:
    try:
        manifest = read_manifest(root, dataset)
    except DatasetMissing:
        return None
    whole = all(
        root.size(paths.shard(dataset, entry.name)) == entry.bytes for entry in manifest.shards
    )
    return manifest if manifest.version == version and whole else None


def _plan(
    layouts: Sequence[Layout], archives: list[Path], spool: Path, size: ShardSize
) -> list[Plan]:
    if len(layouts) == 1:
        members = layouts[0].index(archives, spool)
        return [plan_shards(layouts[0], layouts[0].prepare(members), size)]
    # One pass for all: the first layout's index takes what any of them wants.
    first = layouts[0]
    own = first.wanted
    first.wanted = lambda name: any(  # type: ignore[method-assign]
        layout.wanted(name) if layout is not first else own(name) for layout in layouts
    )
    try:
        members = first.index(archives, spool)
    finally:
        del first.wanted
    return [
        plan_shards(layout, layout.prepare(members.only(layout.wanted)), size) for layout in layouts
    ]


def _write(
    root: Root,
    version: str,
    layout: Layout,
    plan: Plan,
    workers: int | None,
    progress: Progress | None,
    log: Log | None,
) -> list[ShardRecord]:
    dataset = layout.spec.name
    slug = dataset.replace("/", "-")
    tasks = [
        ShardTask(root, version, f"{slug}-{version[:8]}-{number:06d}.tar", layout, files)
        for number, files in enumerate(plan.shards)
    ]
    records = _finished(root, dataset, version)
    todo = [task for task in tasks if task.name not in records]
    if records and log:
        log(f"{dataset}: {len(records)} of {len(tasks)} shards were finished before")
    seen = sum(record.entry.n_samples for record in records.values())
    # Small datasets are not worth the start of worker processes.
    cheap = sum(span.size for task in todo for _, span in task.files) < 64 << 20
    for position, record in map_shards(write_shard, todo, workers=1 if cheap else workers):
        records[todo[position].name] = record
        seen += record.entry.n_samples
        if progress:
            progress(dataset, seen, plan.n_samples)
    return list(records.values())


def _finished(root: Root, dataset: str, version: str) -> dict[str, ShardRecord]:
    found: dict[str, ShardRecord] = {}
    for path in root.list(paths.unsealed(dataset, version)):
        record = ShardRecord.model_validate(root.read_json(path))
        if root.size(paths.shard(dataset, record.entry.name)) == record.entry.bytes:
            found[record.entry.name] = record
    return found


def _sweep(root: Root, manifest: Manifest) -> None:
    """Remove what the new seal made superfluous: notes, and shards of other versions."""
    current = {paths.shard(manifest.name, entry.name) for entry in manifest.shards}
    current.add(paths.manifest(manifest.name))
    depth = manifest.name.count("/") + 2
    for path in root.list(paths.dataset(manifest.name)):
        parts = path.split("/")
        below = parts[depth] if len(parts) > depth else ""
        if path not in current and (below.startswith("unsealed-") or len(parts) == depth + 1):
            root.remove(path)


def _expect(where: str, what: str, expected: object, found: object) -> None:
    if expected is not None and expected != found:
        raise ShiftlakeError(
            f"{where}: the count of {what} is wrong; nothing was sealed.",
            expected=expected,
            found=found,
            where=where,
            remedy="check the archive against the catalog; an overlay may state other counts",
        )


def _spool(root: Root) -> Path:
    """A scratch file of this process; those of processes that died are removed."""
    scratch = root.scratch()
    for left in scratch.glob("inflated-*"):
        try:
            os.kill(int(left.name.removeprefix("inflated-")), 0)
        except ProcessLookupError:
            left.unlink(missing_ok=True)
        except (PermissionError, ValueError):
            continue
    return scratch / f"inflated-{os.getpid()}"
