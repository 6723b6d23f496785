"""Corruptions on the fly in batches: the threads decode and crop, the device does the rest."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np
import torch

from ops import rendering
from ops.inference.inputs import Pixels, source_undecodable
from ops.inference.preprocess import place
from ops.models.transform import Transform
from ops.pixels import UndecodableImage
from ops.rendering import Recipe
from ops.shards import Manifest, Sample, ShardEntry
from ops.storage import Root


class CorruptedOnDevice:
    """Clean crops from the threads, corrupted in batches on the device.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        Of a corruption.
    transform : Transform
        Where it resizes, which it does for models of another input than the crop, threads do it.
    textures : tuple of uint8 arrays, or None
    device : torch.device
    workers : int
        Threads that resize.
    """

    samples_per_task = 4

    def __init__(
        self,
        root: Root,
        manifest: Manifest,
        transform: Transform,
        textures: tuple[Pixels, ...] | None,
        device: torch.device,
        workers: int,
    ) -> None:
        self._root, self._manifest, self._transform = root, manifest, transform
        self._textures, self._device, self._workers = textures, device, workers
        self._recipe = Recipe.of(manifest)
        side = int(manifest.parameters["cropped"])
        self.shape = (side, side, 3)

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples as the stored form has them, with the source's files."""
        return rendering.read(self._root, self._manifest, shard, hash=True)

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Decode and crop the source."""
        try:
            out[...] = rendering.clean(self._manifest, sample.image)
        except UndecodableImage as error:
            return source_undecodable(error, out)
        return None

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """Corrupt, compress and decompress a batch, and transform it."""
        from ops.corruptions.batched import corrupt_batch

        moved = pixels.to(self._device).permute(0, 3, 1, 2)
        made = corrupt_batch(
            moved,
            str(self._recipe.corruption),
            self._recipe.severity or 0,
            [rendering.key(self._manifest, sample) for sample in samples],
            preset=str(self._recipe.preset),
            textures=self._textures,
            stored=True,
        ).permute(0, 2, 3, 1)
        return fitted(made.contiguous(), self._transform, self._workers)


def fitted(made: torch.Tensor, transform: Transform, workers: int) -> torch.Tensor:
    """What was made on a device, as the model takes it.

    Parameters
    ----------
    made : uint8 tensor, shape (rows, height, width, 3)
        As the stored form has it.
    transform : Transform
        From there to the model's input.
    workers : int
        Threads that resize, where the input has another size: the filters are Pillow's, to the
        last bit, and so they run on the CPU.

    Returns
    -------
    uint8 tensor, shape (rows, height, width, 3)
        On the device if nothing was to be resized.
    """
    if transform.output_size == tuple(made.shape[1:3]):
        return made
    there = made.cpu().numpy()
    out = np.empty((len(there), *transform.output_size, 3), np.uint8)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(place, there, repeat(transform), out))
    return torch.from_numpy(out)
