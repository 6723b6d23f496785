"""DeepCorrect's distorted sets: whole grey levels, stored without loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from ops.corruptions import Key
from ops.corruptions import distortions as family
from ops.pixels import encode_png
from ops.rendering.engines import Pixels, Textures
from ops.rendering.parameters import DistortionParameters, checked
from ops.rendering.recipe import Recipe

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

EXTENSION, FORMAT, SIZE = "png", "png", 1_000


def describe(spec: DatasetSpec, textures: Textures | None) -> dict[str, Any]:
    """Fields of the recipe: the distortion and its numbers, and what storing it costs."""
    distortion, level = str(spec.group), spec.severity or 0
    stated = checked(DistortionParameters, spec)
    preset = stated.preset
    return {
        "version": family.ENGINE_VERSION,
        "preset": preset,
        "seed": stated.seed,
        "key_dataset": stated.key_dataset,
        "distortion": distortion,
        "severity": level,
        "parameters": family.parameters(distortion, level, preset),
        "encoding": {"format": "png", "values": "rounded to whole numbers, clipped to 0..255"},
    }


def needs_textures(spec: DatasetSpec) -> bool:
    """Never."""
    return False


def prepare(image: Image.Image, recipe: Recipe) -> Pixels:
    """The picture that is distorted, uint8 of shape (height, width, 3)."""
    return family.resized(np.asarray(image), str(recipe.preset))


def render(
    pixels: Pixels, source_key: str, recipes: Sequence[Recipe], textures: Textures | None
) -> Iterator[tuple[int, bytes]]:
    """Distort and encode one picture."""
    for position, recipe in enumerate(recipes):
        yield position, encode_png(as_stored(pixels, source_key, recipe, textures))


def as_stored(pixels: Pixels, source_key: str, recipe: Recipe, textures: Textures | None) -> Pixels:
    """The distorted picture in whole grey levels, uint8 of shape (height, width, 3)."""
    found = family.distort(
        pixels,
        str(recipe.distortion),
        recipe.severity or 0,
        preset=str(recipe.preset),
        key=Key(source_key, recipe.seed, recipe.key_dataset),
    )
    return np.clip(np.rint(found), 0, 255).astype(np.uint8)
