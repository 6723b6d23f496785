"""ImageNet-C: a JPEG for every corruption and severity of one crop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from PIL import Image

from ops.corruptions import Key, parameters
from ops.corruptions.corrupt import check_corruption, check_severity
from ops.corruptions.encoding import decode_jpeg
from ops.corruptions.engine import ENGINE_VERSION
from ops.corruptions.engine import render as render_corruptions
from ops.pixels import crop_offset, resize_and_crop
from ops.rendering.engines import Pixels, Textures
from ops.rendering.parameters import CorruptionParameters, checked, require
from ops.rendering.recipe import Recipe

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

EXTENSION, FORMAT, SIZE = "jpg", "jpeg", 2_500

# Of each side of the photograph, before it is resized to 299 x 299 (create_c, "inception").
_CENTRAL = 0.875


def describe(spec: DatasetSpec, textures: Textures | None) -> dict[str, Any]:
    """Fields of the recipe: the condition and its numbers, the preset, the JPEG's settings."""
    corruption, severity = str(spec.group), spec.severity or 0
    check_corruption(corruption)
    check_severity(severity)
    stated = checked(CorruptionParameters, spec)
    preset = stated.preset
    numbers = parameters.load(preset)[corruption][severity - 1]
    # A model takes the stored square for what this says it is.
    require(spec, "cropped", parameters.size(preset), stated.cropped, f"as preset {preset} has it")
    fields: dict[str, Any] = {
        "version": ENGINE_VERSION,
        "mode": stated.mode,
        "preset": preset,
        "seed": stated.seed,
        "key_dataset": stated.key_dataset,
        "corruption": corruption,
        "severity": severity,
        "parameters": dict(numbers),
        "encoding": {
            "format": "jpeg",
            "quality": stated.quality,
            "subsampling": "4:2:0",
            "dct": "islow",
        },
    }
    if textures is not None:
        fields["textures"] = tuple(
            hashlib.sha256(f"{texture.shape}".encode() + texture.tobytes()).hexdigest()[:16]
            for texture in textures
        )
    return fields


def needs_textures(spec: DatasetSpec) -> bool:
    """Frost alone."""
    return spec.group == "frost"


def prepare(image: Image.Image, recipe: Recipe) -> Pixels:
    """The picture that is corrupted, uint8 of shape (size, size, 3).

    As the generators of the published sets: the shorter side to 256 and the centre of 224; the
    central 0.875 of each side to 299 x 299; the whole photograph to 64 x 64.
    """
    preset = str(recipe.preset)
    size = parameters.size(preset)
    if preset == "imagenet_224":
        return resize_and_crop(image, 256, size)
    if preset == "imagenet_299":
        # A line of pixels keeps one: none would come out black.
        across, down = (max(1, int(_CENTRAL * side)) for side in image.size)
        left, top = crop_offset(image.width, across), crop_offset(image.height, down)
        image = image.crop((left, top, left + across, top + down))
    return resize_and_crop(image, (size, size), None)


def render(
    pixels: Pixels, source_key: str, recipes: Sequence[Recipe], textures: Textures | None
) -> Iterator[tuple[int, bytes]]:
    """Corrupt and encode one crop."""
    first = recipes[0]
    position = {
        (str(recipe.corruption), recipe.severity or 0): number
        for number, recipe in enumerate(recipes)
    }
    for condition, data in render_corruptions(
        pixels,
        list(position),
        Key(source_key, first.seed, first.key_dataset),
        mode=first.mode or "fast",
        preset=str(first.preset),
        textures=textures,
        quality=int(first.encoding["quality"]),
    ):
        yield position[condition], data


def as_stored(pixels: Pixels, source_key: str, recipe: Recipe, textures: Textures | None) -> Pixels:
    """The decoded JPEG, uint8 of shape (size, size, 3)."""
    ((_, data),) = render(pixels, source_key, [recipe], textures)
    return decode_jpeg(data)
