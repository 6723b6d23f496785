"""Stored perturbation sequences: one video, one row for each of its frames."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ops.inference.inputs import Pixels, told
from ops.inference.preprocess import place
from ops.models.transform import Transform
from ops.perturbations import video
from ops.pixels import UndecodableImage
from ops.shards import Manifest, Sample, ShardEntry, read_shard
from ops.storage import Root


class StoredSequences:
    """Videos in shards.

    A video that is damaged, or of another length than its dataset says, has no row that can be
    predicted: its frames could not be told from each other.

    Parameters
    ----------
    root : Root
    manifest : Manifest
    transform : Transform
        From a stored frame to the model's input.
    frames : int
        Frames of every sequence.
    """

    samples_per_task = 1

    def __init__(self, root: Root, manifest: Manifest, transform: Transform, frames: int) -> None:
        self._root, self._manifest, self._transform = root, manifest, transform
        self.shape = (frames, *transform.output_size, 3)

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples of a shard, each a video."""
        return read_shard(self._root, self._manifest, shard, hash=True)

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Decode a video and transform its frames."""
        try:
            place_frames(video.decode(sample.image or b""), self._transform, out)
        except UndecodableImage as error:
            out.fill(0)
            return told(sample, str(error.found))
        return None

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The frames of all sequences, one after the other."""
        return pixels.flatten(0, 1)


def place_frames(frames: Pixels, transform: Transform, out: Pixels) -> None:
    """Transform the frames of a sequence into their place in a batch.

    Parameters
    ----------
    frames : uint8 array, shape (frames, height, width, 3)
    transform : Transform
    out : uint8 array, shape (frames, height, width, 3)
        Of the model's input.

    Raises
    ------
    ShiftlakeError
        If there are more or fewer frames than places.
    """
    if len(frames) != len(out):
        raise UndecodableImage(
            "A sequence is not whole.",
            expected=f"{len(out)} frames",
            found=f"{len(frames)} frames instead of {len(out)}",
        )
    for frame, target in zip(frames, out, strict=True):
        place(frame, transform, target)
