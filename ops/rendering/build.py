"""Datasets of every kind: cut out of archives, rendered, or subsets of rendered ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ops import shards
from ops.errors import ShiftlakeError
from ops.rendering.frost import frost_left_out, without_frost
from ops.rendering.order import orders_of
from ops.rendering.passes import render
from ops.rendering.recipe import is_rendered
from ops.shards import Manifest
from ops.storage import Root, open_root

if TYPE_CHECKING:
    from ops.catalog import Catalog


def build_many(
    root: Root | str,
    catalog: Catalog,
    datasets: Sequence[str],
    *,
    workers: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> list[Manifest]:
    """Build, render and seal datasets, each after those it derives from.

    Parameters and errors are those of :func:`ops.shards.build_many` and
    :func:`ops.rendering.render`. A dataset that others derive from is built only if it is named,
    too. Where the photographs of frost are missing, all else is sealed before that is told.

    Returns
    -------
    list of Manifest
        In the order of `datasets`.
    """
    root = open_root(root)
    names = [catalog.dataset(name).name for name in datasets]
    specs = [catalog.dataset(name) for name in dict.fromkeys(names)]
    possible, missing = without_frost(root, catalog, specs)
    waiting = dict.fromkeys(spec.name for spec in possible)
    done: dict[str, Manifest] = {}
    while waiting:
        ready = [
            name
            for name in waiting
            if not any(parent in waiting for parent in catalog.dataset(name).derived_from)
        ]
        for rendered, make in ((False, shards.build_many), (True, render)):
            wanted = [name for name in ready if is_rendered(catalog.dataset(name)) == rendered]
            if wanted:
                made = make(root, catalog, wanted, workers=workers, progress=progress, log=log)
                done.update(zip(wanted, made, strict=True))
        for name in ready:
            del waiting[name]
    if missing is not None:
        raise frost_left_out(missing, specs, list(done))
    return [done[name] for name in names]


def expected_version(root: Root | str, catalog: Catalog, dataset: str) -> str:
    """Version a dataset of any kind would have if it were made now from what is at hand.

    Raises
    ------
    ShiftlakeError
        If a source is missing.
    """
    root = open_root(root)
    spec = catalog.dataset(dataset)
    if is_rendered(spec):
        return orders_of(root, catalog, [spec])[0].version
    return shards.expected_version(root, catalog, dataset)


def require_current(root: Root | str, catalog: Catalog, manifest: Manifest) -> None:
    """Refuse a dataset made on the fly that would come out otherwise now than when it was sealed.

    Raises
    ------
    ShiftlakeError
        If the renderer, its parameters, the frost photographs or the source changed.
    """
    # Nothing is stored that could contradict: pixels of another renderer would pass for these.
    now = expected_version(root, catalog, manifest.name)
    if now != manifest.version:
        raise ShiftlakeError(
            f"{manifest.name} can no longer be made as it was sealed.",
            expected=f"version {manifest.version}",
            found=f"version {now}: its renderer, parameters, textures or source changed",
            where=manifest.name,
            remedy=f"seal it anew: shiftlake build {manifest.name}",
        )
