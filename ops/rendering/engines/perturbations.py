"""ImageNet-P: a video for every perturbation of one image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from PIL import Image

from ops.corruptions.parameters import plain
from ops.perturbations import Key, perturbations, sequence, sequences
from ops.perturbations.facts import check_difficulty, check_perturbation, resized, size
from ops.perturbations.sequence import ENGINE_VERSION
from ops.perturbations.video import decode, encode
from ops.pixels import resize_and_crop
from ops.rendering.engines import Pixels, Textures
from ops.rendering.parameters import PerturbationParameters, checked, require
from ops.rendering.recipe import Recipe

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

# A lossless sequence is some hundred times a JPEG.
EXTENSION, FORMAT, SIZE = "mp4", "mp4", 50


def describe(spec: DatasetSpec, textures: Textures | None) -> dict[str, Any]:
    """Fields of the recipe: the perturbation and its numbers, its frames, the video's settings."""
    stated = checked(PerturbationParameters, spec)
    name, difficulty = stated.perturbation, stated.difficulty
    known = check_perturbation(name)
    check_difficulty(known, difficulty)
    # What an evaluation reads off the entry is what is made.
    require(spec, "cropped", size(), stated.cropped, "as every frame has it")
    require(spec, "frames", known.frames, stated.frames, f"as {name} has them")
    require(spec, "reference", known.reference, stated.reference, f"as {name} has it")
    numbers = plain(known.levels[difficulty - 1])
    encoding: dict[str, Any] = {
        "format": "mp4",
        "codec": "h264",
        "frames_per_second": 1,
        "storage": stated.storage,
    }
    if stated.storage == "published":
        # Lossy: another encoder makes other pixels, and so may another decoder.
        encoding |= _coder(known.reference == "first")
    return {
        "version": ENGINE_VERSION,
        "mode": stated.mode,
        "seed": stated.seed,
        "key_dataset": stated.key_dataset,
        "perturbation": name,
        "difficulty": difficulty,
        "parameters": {**numbers, "frames": known.frames, "reference": known.reference},
        "encoding": encoding,
    }


def needs_textures(spec: DatasetSpec) -> bool:
    """Never."""
    return False


def prepare(image: Image.Image, recipe: Recipe) -> Pixels:
    """The image with its shorter side at 256, uint8 of shape (height, width, 3); not cropped."""
    return resize_and_crop(image, resized(), None)


def render(
    pixels: Pixels, source_key: str, recipes: Sequence[Recipe], textures: Textures | None
) -> Iterator[tuple[int, bytes]]:
    """Make and encode the sequences of one image."""
    first = recipes[0]
    position = {
        (str(recipe.perturbation), recipe.difficulty or 1): number
        for number, recipe in enumerate(recipes)
    }
    key = Key(source_key, first.seed, first.key_dataset)
    for condition, frames in sequences(pixels, list(position), key, mode=first.mode or "fast"):
        yield position[condition], _encoded(frames, first, condition[0])


def as_stored(pixels: Pixels, source_key: str, recipe: Recipe, textures: Textures | None) -> Pixels:
    """The frames, uint8 of shape (frames, 224, 224, 3)."""
    name = str(recipe.perturbation)
    frames = sequence(
        pixels,
        name,
        key=Key(source_key, recipe.seed, recipe.key_dataset),
        mode=recipe.mode or "fast",
        difficulty=recipe.difficulty or 1,
    )
    if recipe.encoding["storage"] == "lossless":
        return frames
    return decode(_encoded(frames, recipe, name), frames=len(frames))


def _encoded(frames: Pixels, recipe: Recipe, name: str) -> bytes:
    # The published noises, those whose frames are compared with the first, were coded as grain.
    grain = perturbations()[name].reference == "first"
    return encode(frames, recipe.encoding["storage"], grain=grain)


@cache
def _coder(grain: bool) -> dict[str, str]:
    """PyAV's version, and what x264 writes into a published video of its build and settings."""
    video = encode(np.zeros((1, size(), size(), 3), np.uint8), "published", grain=grain)
    found = re.search(rb"(x264 - core [^-]*?) - .*? - options: ([^\0]*)", video)
    build, settings = found.groups() if found else (b"unknown", b"unknown")
    return {"pyav": av.__version__, "encoder": build.decode(), "settings": settings.decode()}
