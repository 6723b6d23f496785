"""From sealed images to sealed rendered datasets: one pass over the source for all of them.

A rendering may stop anywhere. Shards that were published stay, and the next one makes only those
that are missing; the bytes do not depend on how often it stopped, on the number of workers, or on
which other datasets were asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.parallel import map_shards, usable_cpus
from ops.rendering.decodable import undecodable
from ops.rendering.frost import frost_left_out, without_frost
from ops.rendering.libraries import libraries
from ops.rendering.on_the_fly import seal_on_the_fly
from ops.rendering.order import Order, Slice, orders_of
from ops.rendering.part import Output, Part, render_part
from ops.rendering.recipe import RENDERED_LAYOUTS, is_rendered
from ops.shards import (
    Manifest,
    ShardRecord,
    finished_shards,
    header_of,
    seal,
    standing_seal,
)
from ops.storage import Root, open_root

if TYPE_CHECKING:
    from ops.catalog import Catalog

Progress = Callable[[str, int, int], None]
Log = Callable[[str], None]
# Outputs, some fifteen seconds of work. Below, threads are done before processes have started;
# above, processes are faster by a fifth: what is Python in the work, one thread at a time does.
_FEW = 20_000
# Seconds between two reports of progress within a part.
_TELL = 0.5


def render(
    root: Root | str,
    catalog: Catalog,
    datasets: Sequence[str],
    *,
    workers: int | None = None,
    size: int | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
) -> list[Manifest]:
    """Render and seal datasets; those with one source and one engine share one pass over it.

    Parameters
    ----------
    root : Root or str
        Holds the sealed source, and takes the shards.
    catalog : Catalog
        Says how the datasets are made.
    datasets : sequence of str
        Names, such as ``imagenet_c_rendered/fog/3``. For those that are made on the fly every
        source image is decoded once, to tell which cannot be; they get their manifest and nothing
        else.
    workers : int, optional
        Workers; the usable CPUs by default. The result does not depend on it.
    size : int, optional
        Samples of a shard at most; by default as the engine says. A shard never holds samples of
        two shards of the source.
    progress : callable, optional
        Called as ``progress(dataset, samples done, samples in all)``; with the source's name while
        it is checked for datasets made on the fly.
    log : callable, optional
        Takes a line of text now and then, with the images per second.

    Returns
    -------
    list of Manifest
        In the order of `datasets`.

    Raises
    ------
    ShiftlakeError
        If the source is not sealed or damaged, a dataset is not a rendered one, or the disk is
        full. Nothing is sealed then, and shards already finished stay for the next time.
    FrostUnavailable
        If frost cannot be made for want of its photographs; all else is sealed then.
    """
    root = open_root(root)
    specs = [catalog.dataset(name) for name in datasets]
    for spec in specs:
        if not is_rendered(spec):
            raise ShiftlakeError(
                f"{spec.name} is not rendered.",
                expected=f"one of the layouts {', '.join(RENDERED_LAYOUTS)}",
                found=spec.layout,
                where=spec.name,
                remedy="use ops.rendering.build_many, which makes datasets of every kind",
            )
    done: dict[str, Manifest] = {}
    together: dict[tuple[str, int], list[Order]] = {}
    fly: dict[str, list[Order]] = {}
    unique = list({spec.name: spec for spec in specs}.values())
    possible, missing = without_frost(root, catalog, unique)
    for order in orders_of(root, catalog, possible, size):
        sealed = standing_seal(root, order.spec, order.version)
        if sealed is not None:
            done[order.spec.name] = sealed
        elif order.recipe.form == "on_the_fly":
            fly.setdefault(order.source.name, []).append(order)
        else:
            together.setdefault((order.recipe.shared, order.size), []).append(order)
    for orders in fly.values():
        found = undecodable(root, catalog, orders, workers=workers, progress=progress, log=log)
        for order, failures in zip(orders, found, strict=True):
            done[order.spec.name] = seal_on_the_fly(root, order, failures)
    for orders in together.values():
        for order, records in zip(
            orders, _render(root, orders, workers, progress, log), strict=True
        ):
            manifest = _seal(root, catalog, order, records)
            done[manifest.name] = manifest
            if log:
                log(f"{manifest.name}: sealed {manifest.n_samples:,} samples as {order.version}")
    if missing is not None:
        raise frost_left_out(missing, unique, list(done))
    return [done[spec.name] for spec in specs]


def _render(
    root: Root,
    orders: Sequence[Order],
    workers: int | None,
    progress: Progress | None,
    log: Log | None,
) -> list[list[ShardRecord]]:
    """Make what is missing; the notes of all shards of every order."""
    source = orders[0].source
    records = [finished_shards(root, order.spec.name, order.version) for order in orders]
    seen = [sum(each.entry.n_samples for each in found.values()) for found in records]
    parts: list[Part] = []
    lacking: list[list[int]] = []
    for cut in orders[0].slices():
        wanted = [
            position
            for position, order in enumerate(orders)
            if order.shard(cut.number) not in records[position]
        ]
        if wanted:
            lacking.append(wanted)
            parts.append(_part(root, [orders[position] for position in wanted], cut))
    workers = workers or usable_cpus()
    outputs = sum((part.stop - part.start) * len(part.outputs) for part in parts)
    processes = 1 if outputs < _FEW else max(1, min(workers, len(parts)))
    threads = -(-workers // processes)

    def within(wanted: Sequence[int]) -> Callable[[int], None] | None:
        # Another process could not call back; its parts are told when they are done.
        if progress is None or processes > 1:
            return None
        told = time.monotonic()

        def tell(number: int) -> None:
            nonlocal told
            if time.monotonic() - told < _TELL:
                return
            told = time.monotonic()
            for which in wanted:
                progress(orders[which].spec.name, seen[which] + number, source.n_samples)

        return tell

    parts = [
        replace(part, threads=threads, progress=within(wanted))
        for part, wanted in zip(parts, lacking, strict=True)
    ]
    if log and any(seen):
        finished = sum(len(found) for found in records)
        log(f"{source.name}: {finished} shards of {len(orders)} datasets were finished before")
    started, images = time.monotonic(), 0
    for position, made in map_shards(render_part, parts, workers=processes):
        for which, record in zip(lacking[position], made, strict=True):
            records[which][record.entry.name] = record
            seen[which] += record.entry.n_samples
            images += record.entry.n_samples
            if progress:
                progress(orders[which].spec.name, seen[which], source.n_samples)
        if log:
            rate = images / (time.monotonic() - started)
            log(f"{source.name}: {images:,} images rendered, {rate:,.0f} images/s")
    return [list(found.values()) for found in records]


def _part(root: Root, orders: Sequence[Order], cut: Slice) -> Part:
    outputs = tuple(
        Output(order.spec.name, order.version, order.shard(cut.number), order.recipe)
        for order in orders
    )
    shown = next((order.textures for order in orders if order.textures is not None), None)
    return Part(root, orders[0].source, cut.entry, cut.start, cut.stop, outputs, shown)


def _seal(root: Root, catalog: Catalog, order: Order, records: Sequence[ShardRecord]) -> Manifest:
    source = order.source
    recipe = order.recipe.model_copy(update={"libraries": libraries(order.recipe.engine)})
    header = header_of(
        catalog,
        order.spec,
        [source.as_source],
        {},
        renderer=recipe.renderer,
        synthetic=source.synthetic,
        licence=order.licence,
    )
    return seal(root, header, order.version, records, written=source.n_samples, spec=order.spec)
