"""What a rendered dataset asks for: its source, its recipe, its version and its shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.rendering.engines import Textures, engine
from ops.rendering.frost import textures
from ops.rendering.recipe import RENDERED_LAYOUTS, Recipe
from ops.shards import Manifest, ShardEntry, read_manifest
from ops.storage import Root

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec


_PHOTOGRAPHS = "frost photographs of unknown licence"


@dataclass(frozen=True)
class Slice:
    """Some samples of a source shard that become one shard of a rendered dataset."""

    number: int
    entry: ShardEntry
    start: int
    stop: int


@dataclass(frozen=True)
class Order:
    """A dataset to be rendered.

    Parameters
    ----------
    spec : DatasetSpec
    source : Manifest
        The sealed dataset that is rendered.
    recipe : Recipe
    version : str
    size : int
        Samples of a shard at most.
    textures : tuple of uint8 arrays, or None
    """

    spec: DatasetSpec
    source: Manifest
    recipe: Recipe
    version: str
    size: int
    textures: Textures | None

    @property
    def licence(self) -> str | None:
        """Licence of the images: that of their source, and of what frost shows."""
        own = self.source.licence
        return own if self.recipe.textures is None else f"{own or 'unknown'}; {_PHOTOGRAPHS}"

    def slices(self) -> list[Slice]:
        """The source's shards, cut where they hold more than `size` samples."""
        cuts = [
            (entry, start, min(start + self.size, entry.n_samples))
            for entry in self.source.shards
            for start in range(0, entry.n_samples, self.size)
        ]
        return [Slice(number, *cut) for number, cut in enumerate(cuts)]

    def shard(self, number: int) -> str:
        """File name of a shard."""
        return f"{self.spec.name.replace('/', '-')}-{self.version[:8]}-{number:06d}.tar"


def orders_of(
    root: Root, catalog: Catalog, specs: Sequence[DatasetSpec], size: int | None = None
) -> list[Order]:
    """Work out how datasets would be made now, each source and each photograph read once.

    Raises
    ------
    ShiftlakeError
        If a source is not sealed, the catalog's entry asks for what there is not, or a frost
        photograph is missing.
    """
    sealed: dict[str, Manifest] = {}
    shown: Textures | None = None
    orders = []
    for spec in specs:
        name, form = RENDERED_LAYOUTS[spec.layout]
        made = engine(name)
        parent = _source(spec)
        source = sealed[parent] = sealed.get(parent) or read_manifest(root, parent)
        needed = made.needs_textures(spec)
        if needed and shown is None:
            shown = textures(root, catalog)
        own = shown if needed else None
        fields = {
            "form": form,
            "engine": name,
            "source": source.name,
            "source_version": source.version,
            **made.describe(spec, own),
        }
        recipe = Recipe.model_validate(fields)
        cut = size or made.SIZE
        # Made on the fly, a dataset has the shards of its source, whatever their size.
        version = recipe.version_of(spec, cut if form == "stored" else None)
        orders.append(Order(spec, source, recipe, version, cut, own))
    return orders


def _source(spec: DatasetSpec) -> str:
    if len(spec.derived_from) != 1:
        raise ShiftlakeError(
            f"{spec.name} cannot be rendered.",
            expected="one dataset in `derived_from`",
            found=", ".join(spec.derived_from) or "none",
            where=spec.name,
            remedy="correct the entry of the catalog",
        )
    return spec.derived_from[0]
