"""Sequences on the fly in batches: the threads decode and resize, the device makes the frames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import torch

from ops import rendering
from ops.inference.expected import frames
from ops.inference.inputs import Pixels, reason_undecodable
from ops.inference.on_device import fitted
from ops.models.transform import Transform
from ops.pixels import UndecodableImage
from ops.rendering import Recipe
from ops.shards import Manifest, Sample, ShardEntry
from ops.storage import Root


class SequencesOnDevice:
    """Whole images from the threads, perturbed in batches on the device.

    Frames look beyond the crop, so images keep their own shape, and one array does not hold a
    batch of them: until it is finished they wait here by their keys.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        Of a perturbation.
    transform : Transform
        Where it resizes, threads do it.
    device : torch.device
    workers : int
        Threads that resize.
    """

    samples_per_task = 1
    shape = (0,)

    def __init__(
        self,
        root: Root,
        manifest: Manifest,
        transform: Transform,
        device: torch.device,
        workers: int,
    ) -> None:
        self._root, self._manifest, self._transform = root, manifest, transform
        self._device, self._workers = device, workers
        self._recipe = Recipe.of(manifest)
        self._frames = frames(manifest) or 1
        self._side = int(manifest.parameters["cropped"])
        self._images: dict[str, Pixels] = {}

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples as the stored form has them, with the source's files."""
        return rendering.read(self._root, self._manifest, shard, hash=True)

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Decode and resize the source; nothing is written to `out`."""
        try:
            self._images[sample.key] = rendering.clean(self._manifest, sample.image)
        except UndecodableImage as error:
            return reason_undecodable(error)
        return None

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The frames of all sequences, one after the other; black where there is no image."""
        from ops.perturbations.batched import sequence_batch

        size = (len(samples), self._frames, 3, self._side, self._side)
        made = torch.zeros(size, dtype=torch.uint8, device=self._device)
        alike: dict[tuple[int, ...], list[tuple[int, Pixels]]] = defaultdict(list)
        for place, sample in enumerate(samples):
            # Kept until they are done: where memory is short it is tried again with fewer.
            image = self._images.get(sample.key)
            if image is not None:
                alike[image.shape].append((place, image))
        for group in alike.values():
            images = torch.from_numpy(np.stack([image for _, image in group]))
            done = sequence_batch(
                images.to(self._device).permute(0, 3, 1, 2).contiguous(),
                str(self._recipe.perturbation),
                [rendering.key(self._manifest, samples[place]) for place, _ in group],
                difficulty=self._recipe.difficulty or 1,
            )
            for (place, _), frames_of_one in zip(group, done, strict=True):
                made[place] = frames_of_one
        rows = made.flatten(0, 1).permute(0, 2, 3, 1).contiguous()
        fitting = fitted(rows, self._transform, self._workers)
        for sample in samples:
            self._images.pop(sample.key, None)
        return fitting
