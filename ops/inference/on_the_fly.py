"""Datasets made on the fly: rendered as they are evaluated, with nothing written.

On a CPU the decoding threads render as the stored form was rendered, pixel for pixel. For a GPU
they only decode and crop, and whole batches are corrupted there, JPEG included
(:mod:`ops.inference.on_device`), or made into the frames of their sequences
(:mod:`ops.inference.sequences_on_device`).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ops import rendering
from ops.catalog import Catalog
from ops.corruptions.encoding import STORED_QUALITY
from ops.inference.expected import frames
from ops.inference.inputs import Input, Pixels, source_undecodable
from ops.inference.on_device import CorruptedOnDevice
from ops.inference.preprocess import place
from ops.inference.record import Numerics
from ops.inference.sequences import place_frames
from ops.inference.sequences_on_device import SequencesOnDevice
from ops.models.transform import Transform
from ops.pixels import UndecodableImage
from ops.rendering import Recipe
from ops.shards import Manifest, Sample, ShardEntry
from ops.storage import Root


def open_rendered(
    root: Root,
    catalog: Catalog,
    manifest: Manifest,
    transform: Transform,
    numerics: Numerics,
    workers: int,
) -> Input:
    """The input of a dataset made on the fly.

    Parameters
    ----------
    root : Root
    catalog : Catalog
        Knows how the dataset would be made now, and the frost photographs.
    manifest : Manifest
        As the dataset was sealed.
    transform : Transform
        From what the stored form would hold to the model's input.
    numerics : Numerics
        Its device renders what it can.
    workers : int
        Threads.

    Raises
    ------
    ShiftlakeError
        If what was sealed can no longer be made: the renderer, the frost photographs or the
        source changed.
    """
    rendering.require_current(root, catalog, manifest)
    recipe = Recipe.of(manifest)
    textures = rendering.textures(root, catalog) if recipe.textures is not None else None
    if numerics.device == "cuda" and made_on_device(recipe):
        device = torch.device(numerics.device)
        if recipe.engine == "corruptions":
            return CorruptedOnDevice(root, manifest, transform, textures, device, workers)
        return SequencesOnDevice(root, manifest, transform, device, workers)
    return RenderedOnHost(root, manifest, transform, textures)


def made_on_device(recipe: Recipe) -> bool:
    """Whether a GPU makes the pixels of a recipe.

    It makes those of the fast mode, as they would be stored: a JPEG of the published quality, or
    the frames of a lossless video.
    """
    if recipe.mode != "fast":
        return False
    if recipe.engine == "corruptions":
        return bool(recipe.encoding["quality"] == STORED_QUALITY)
    return recipe.engine == "perturbations" and recipe.encoding["storage"] == "lossless"


class RenderedOnHost:
    """Every sample rendered by the thread that decodes it.

    Parameters
    ----------
    root : Root
    manifest : Manifest
    transform : Transform
    textures : tuple of uint8 arrays, or None
        The frost photographs, where the condition shows them.
    """

    samples_per_task = 1

    def __init__(
        self,
        root: Root,
        manifest: Manifest,
        transform: Transform,
        textures: tuple[Pixels, ...] | None,
    ) -> None:
        self._root, self._manifest, self._transform = root, manifest, transform
        self._textures = textures
        self._frames = frames(manifest)
        own = () if self._frames is None else (self._frames,)
        self.shape = (*own, *transform.output_size, 3)

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples as the stored form has them, with the source's files."""
        return rendering.read(self._root, self._manifest, shard, hash=True)

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Render one sample as it would be stored, and transform it."""
        try:
            made = rendering.as_stored(self._manifest, sample, textures=self._textures)
            if self._frames is None:
                place(made, self._transform, out)
            else:
                place_frames(made, self._transform, out)
        except UndecodableImage as error:
            return source_undecodable(error, out)
        return None

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The pixels as they are; the frames of all sequences one after the other."""
        return pixels if self._frames is None else pixels.flatten(0, 1)
