"""What each engine offers the renderer, and which module holds it.

An engine knows how its pictures are prepared, made and encoded. It does not know where samples
come from or go to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt
from PIL import Image

from ops.rendering.recipe import EngineName, Recipe

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

Pixels = npt.NDArray[np.uint8]
Textures = tuple[Pixels, ...]


class Engine(Protocol):
    """One kind of rendered picture. Every module of this folder is one."""

    # Suffix and format of a stored sample, and how many samples a shard holds by default.
    EXTENSION: str
    FORMAT: str
    SIZE: int

    def describe(self, spec: DatasetSpec, textures: Textures | None) -> dict[str, Any]:
        """The engine's own fields of a dataset's recipe.

        Raises
        ------
        ShiftlakeError
            If the catalog's entry asks for what the engine does not have.
        """

    def needs_textures(self, spec: DatasetSpec) -> bool:
        """Whether the dataset shows frost photographs."""

    def prepare(self, image: Image.Image, recipe: Recipe) -> Pixels:
        """A decoded source image at the size at which it is rendered."""

    def render(
        self,
        pixels: Pixels,
        source_key: str,
        recipes: Sequence[Recipe],
        textures: Textures | None,
    ) -> Iterator[tuple[int, bytes]]:
        """Files of one image for recipes that share a pass, each with its position in them."""

    def as_stored(
        self, pixels: Pixels, source_key: str, recipe: Recipe, textures: Textures | None
    ) -> Pixels:
        """What a reader decodes of the file that :meth:`render` makes by a recipe."""


def engine(name: EngineName) -> Engine:
    """The engine of a name; its kernels are imported only now."""
    return cast(Engine, import_module(f"ops.rendering.engines.{name}"))
