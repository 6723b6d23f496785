"""From verified archives to sealed datasets: index, plan, write in parallel, seal.

A build may stop anywhere. What was published stays, and the next build writes only what is
missing; the bytes do not depend on how often it stopped or on how many workers it had.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.parallel import map_shards, usable_cpus
from ops.shards.inputs import Inputs, find_inputs
from ops.shards.layouts import LAYOUTS, Layout
from ops.shards.layouts.base import is_apple_double
from ops.shards.manifest import Manifest, SourceRef, version_of
from ops.shards.plan import Plan, ShardSize, plan_shards
from ops.shards.resume import finished_shards, standing_seal
from ops.shards.seal import header_of, seal
from ops.shards.write import ShardRecord, ShardTask, write_shard
from ops.storage import Root, full_disk_explained, open_root, paths
from ops.storage.unfinished import held, sweep

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec

Progress = Callable[[str, int, int], None]
Log = Callable[[str], None]
_THREADS = 4


def build(
    root: Root | str,
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
    root = open_root(root)
    options = {"workers": workers, "size": size, "progress": progress, "log": log}
    return build_many(root, catalog, [dataset], **options)[0]  # type: ignore[arg-type]


def build_many(
    root: Root | str,
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
    root : Root or str
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
    root = open_root(root)
    size = size or ShardSize()
    done: dict[str, Manifest] = {}
    used: list[Inputs] = []
    specs = [catalog.dataset(name) for name in datasets]
    for spec in specs:
        _require_layout(spec)
    for _, group in groupby(specs, key=lambda spec: (spec.layout, _inputs(spec))):
        together = list(group)
        inputs = find_inputs(root, catalog, together[0])
        builds = []
        for spec in together:
            version = _version(spec, inputs.refs, size)
            sealed = standing_seal(root, spec, version)
            if sealed is not None:
                done[spec.name] = sealed
            else:
                builds.append((spec, version))
        if not builds:
            continue
        used.append(inputs)
        layouts = [LAYOUTS[spec.layout](spec, inputs.side) for spec, _ in builds]
        with _spool(root) as spool:
            plans = _plan(layouts, inputs.archives(), spool, size)
            for (spec, version), layout, plan in zip(builds, layouts, plans, strict=True):
                records = _write(root, version, layout, plan, workers, progress, log)
                _require_same(root, catalog, spec, version, inputs.refs)
                header = header_of(
                    catalog,
                    spec,
                    inputs.refs,
                    plan.ignored,
                    renderer=inputs.renderer,
                    synthetic=inputs.synthetic,
                    licence=inputs.licence,
                )
                done[spec.name] = seal(
                    root, header, version, records, written=plan.n_samples, spec=spec
                )
                if log:
                    log(f"{spec.name}: sealed {plan.n_samples:,} samples as {version}")
    # Not before all are sealed: several datasets may be made of one archive.
    for inputs in used:
        inputs.drop()
    return [done[spec.name] for spec in specs]


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
    _require_layout(spec)
    return _version(spec, find_inputs(root, catalog, spec).refs, size or ShardSize())


def _require_layout(spec: DatasetSpec) -> None:
    if spec.layout not in LAYOUTS:
        raise ShiftlakeError(
            f"{spec.name} is not cut out of an archive.",
            expected=f"one of the layouts {', '.join(LAYOUTS)}",
            found=spec.layout,
            where=spec.name,
            remedy=f"shiftlake video mine {spec.condition}"
            if spec.layout == "mined"
            else f"shiftlake reviews freeze {spec.condition}"
            if spec.layout == "reviewed"
            else "for a rendered dataset use ops.rendering.build_many; else correct the layout",
        )


def _require_same(
    root: Root, catalog: Catalog, spec: DatasetSpec, version: str, refs: list[SourceRef]
) -> None:
    """Refuse to seal what was made of sources that have been replaced meanwhile."""
    if (found := find_inputs(root, catalog, spec).refs) != refs:
        # A source replaced between its receipt and its index gave shards of another content.
        root.remove_folder(paths.unsealed(spec.name, version))
        raise ShiftlakeError(
            f"{spec.name}: a source changed while it was read; nothing was sealed.",
            expected=[f"{ref.name}, sha256 {ref.sha256}" for ref in refs],
            found=[f"{ref.name}, sha256 {ref.sha256}" for ref in found],
            where=spec.name,
            remedy=f"run again: shiftlake build {spec.name}",
        )


def _inputs(spec: DatasetSpec) -> tuple[str, ...]:
    return (*spec.files, *spec.derived_from)


def _version(spec: DatasetSpec, sources: Sequence[SourceRef], size: ShardSize) -> str:
    return version_of(
        {
            "name": spec.name,
            "layout": spec.layout,
            "rules": LAYOUTS[spec.layout].rules(spec),
            "label_space": spec.label_space,
            "parameters": dict(spec.parameters),
            "mask": spec.mask,
            "sources": [ref.sha256 for ref in sources],
            "size": [size.bytes, size.samples],
        }
    )


def _plan(
    layouts: Sequence[Layout], archives: list[Path], spool: Path, size: ShardSize
) -> list[Plan]:
    """Index the archives once for all the layouts, and divide each layout's part."""

    def wanted(name: str) -> bool:
        return any(layout.wanted(name) for layout in layouts)

    with full_disk_explained(spool, "inflating an archive"):
        members = layouts[0].index(archives, spool, wanted)
    plans = []
    for layout in layouts:
        own = members if len(layouts) == 1 else members.only(layout.wanted)
        n_doubles = sum(map(is_apple_double, own.names))
        if n_doubles:
            own = own.only(lambda name: not is_apple_double(name))
        plans.append(plan_shards(layout, layout.prepare(own), size, n_apple_doubles=n_doubles))
    return plans


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
    records = finished_shards(root, dataset, version)
    todo = [task for task in tasks if task.name not in records]
    if records and log:
        log(f"{dataset}: {len(records)} of {len(tasks)} shards were finished before")
    seen = sum(record.entry.n_samples for record in records.values())
    workers = workers or usable_cpus()
    # Reading, hashing and writing happen outside the interpreter's lock, which is held for some
    # 30 microseconds a sample: a few threads keep as many cores busy, and start at once.
    threads = workers <= _THREADS
    for position, record in map_shards(write_shard, todo, workers=workers, threads=threads):
        records[todo[position].name] = record
        seen += record.entry.n_samples
        if progress:
            progress(dataset, seen, plan.n_samples)
    return list(records.values())


@contextmanager
def _spool(root: Root) -> Iterator[Path]:
    """A scratch file for inflated members; those of builds that were killed are removed."""
    sweep(root.scratch(), "inflated-*")
    path = root.scratch() / f"inflated-{uuid.uuid4().hex}"
    with held(path):
        yield path
