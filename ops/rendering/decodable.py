"""Which images of a source cannot be rendered: one pass over it, before anything is sealed.

A stored dataset finds out while it is rendered. One that is made on the fly has to know when it is
sealed, or its manifest would count images as good that no reader can get.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ops.parallel import map_shards, usable_cpus
from ops.pixels import UndecodableImage, decode
from ops.rendering.engines import engine
from ops.rendering.order import Order
from ops.rendering.part import sources
from ops.rendering.recipe import Recipe
from ops.rendering.samples import reason_of, rendered_key
from ops.shards import DatasetMissing, Manifest, Sample, ShardEntry, read_manifest
from ops.storage import Root

if TYPE_CHECKING:
    from ops.catalog import Catalog

Progress = Callable[[str, int, int], None]
Log = Callable[[str], None]
# Engine and preset: what decides how a source image is prepared, and with it whether it can be.
Kind = tuple[str, str | None]


@dataclass(frozen=True)
class Undecodable:
    """A source image that cannot be rendered.

    Parameters
    ----------
    sample : Sample
        The source's, without its bytes.
    reason : str
        As the stored form states it.
    """

    sample: Sample
    reason: str


def undecodable(
    root: Root,
    catalog: Catalog,
    orders: Sequence[Order],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
) -> list[list[Undecodable]]:
    """Find the images that cannot be rendered; every image is decoded once for all orders.

    What the seal of another condition says already is taken from there.

    Parameters
    ----------
    root : Root
    catalog : Catalog
        Names the other conditions.
    orders : sequence of Order
        Datasets of one source.
    workers : int, optional
        Threads; the usable CPUs by default.
    progress : callable, optional
        Called as ``progress(source, images checked, images in all)``.
    log : callable, optional

    Returns
    -------
    list of list of Undecodable
        For every order, by the source's shards.

    Raises
    ------
    ShiftlakeError
        If the source is not what was sealed.
    """
    source = orders[0].source
    recipes = {_kind(order.recipe): order.recipe for order in orders}
    told = _told(root, catalog, orders)
    asked = [kind for kind in recipes if kind not in told]
    found: dict[Kind, list[Undecodable]] = {kind: [] for kind in recipes}

    def check(entry: ShardEntry) -> dict[Kind, list[Undecodable]]:
        samples = sources(root, source, entry)
        lists = {kind: _listed(samples, reasons) for kind, reasons in told.items()}
        if asked:
            refused = _refused(samples, [recipes[kind] for kind in asked])
            lists.update(zip(asked, refused, strict=True))
        return lists

    if not asked and not any(told.values()):
        return [[] for _ in orders]
    checked: dict[int, dict[Kind, list[Undecodable]]] = {}
    started, seen = time.monotonic(), 0
    for position, lists in map_shards(
        check, source.shards, workers=workers or usable_cpus(), threads=True
    ):
        checked[position] = lists
        seen += source.shards[position].n_samples
        if progress:
            progress(source.name, seen, source.n_samples)
    for position in sorted(checked):
        for kind, more in checked[position].items():
            found[kind] += more
    if log:
        log(f"{source.name}: {seen:,} images checked in {time.monotonic() - started:.1f} s")
    return [found[_kind(order.recipe)] for order in orders]


def _kind(recipe: Recipe) -> Kind:
    return recipe.engine, recipe.preset


def _refused(samples: Sequence[Sample], recipes: Sequence[Recipe]) -> list[list[Undecodable]]:
    """For every recipe the samples that cannot be decoded, or not be resized."""
    found: list[list[Undecodable]] = [[] for _ in recipes]
    for sample in samples:
        try:
            image = decode(sample.image)
        except UndecodableImage as error:
            for each in found:
                each.append(Undecodable(replace(sample, image=None), reason_of(error)))
            continue
        for each, recipe in zip(found, recipes, strict=True):
            try:
                engine(recipe.engine).prepare(image, recipe)
            except UndecodableImage as error:
                each.append(Undecodable(replace(sample, image=None), reason_of(error)))
    return found


def _listed(samples: Sequence[Sample], reasons: dict[str, str]) -> list[Undecodable]:
    return [
        Undecodable(replace(sample, image=None), reasons[rendered_key(sample)])
        for sample in samples
        if rendered_key(sample) in reasons
    ]


def _told(root: Root, catalog: Catalog, orders: Sequence[Order]) -> dict[Kind, dict[str, str]]:
    """Reasons by key, by kind, where another condition of the same family is sealed already."""
    source = orders[0].source
    found: dict[Kind, dict[str, str]] = {}
    for order in orders:
        if _kind(order.recipe) in found:
            continue
        for spec in catalog.datasets.values():
            if spec.family != order.spec.family:
                continue
            sealed = _sealed(root, spec.name)
            if sealed is None:
                continue
            recipe = Recipe.of(sealed)
            same = (recipe.source, recipe.source_version) == (source.name, source.version)
            if same and _kind(recipe) == _kind(order.recipe):
                found[_kind(recipe)] = {failed.key: failed.reason for failed in sealed.failed}
                break
    return found


def _sealed(root: Root, name: str) -> Manifest | None:
    try:
        manifest = read_manifest(root, name)
    except DatasetMissing:
        return None
    return manifest if manifest.renderer is not None else None
