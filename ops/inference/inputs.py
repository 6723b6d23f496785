"""From samples to a model's pixels, for each of the ways a dataset keeps its images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from ops.errors import ShiftlakeError
from ops.inference.preprocess import prepare
from ops.models.transform import Transform
from ops.pixels import UndecodableImage
from ops.shards import Manifest, Sample, ShardEntry, read_shard
from ops.storage import Root

Pixels = npt.NDArray[np.uint8]


class Input(Protocol):
    """What a sample of a dataset is, and how it becomes pixels.

    A thread calls `prepare` for each sample, with the interpreter's lock released for most of it;
    the pixels of a batch then pass through `finish` in one piece.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sample as `prepare` writes it: (height, width, 3), or frames before."""

    @property
    def samples_per_task(self) -> int:
        """Samples a thread takes at once."""

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples of a shard, in its order.

        Raises
        ------
        ShiftlakeError
            If the shard is not the one that was sealed, or holds no images.
        """

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Write one sample's pixels, uint8 of `shape`; return why it cannot be decoded, or None.

        What cannot be decoded is black.
        """

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The rows' pixels, uint8 of shape (rows, height, width, 3), of a batch as prepared."""


class StoredImages:
    """Images in shards: one sample, one row.

    Parameters
    ----------
    root : Root
    manifest : Manifest
    transform : Transform
        From what is stored to the model's input.
    """

    # Handing one image over costs as much as a tenth of its decode.
    samples_per_task = 4

    def __init__(self, root: Root, manifest: Manifest, transform: Transform) -> None:
        self._root, self._manifest, self._transform = root, manifest, transform
        self.shape = (*transform.output_size, 3)

    def read(self, shard: ShardEntry) -> Iterator[Sample]:
        """Samples of a shard, each an image."""
        for sample in read_shard(self._root, self._manifest, shard, hash=True):
            if sample.image is None or sample.extension == "mp4":
                raise self._no_image(sample, shard)
            yield sample

    def prepare(self, sample: Sample, out: Pixels) -> str | None:
        """Decode and transform one image."""
        return told(sample, prepare(sample.image, self._transform, out))

    def finish(self, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        """The pixels as they are."""
        return pixels

    def _no_image(self, sample: Sample, shard: ShardEntry) -> ShiftlakeError:
        dataset, joined = self._manifest.name, self._manifest.joined_to
        if sample.image is not None:
            found, remedy = "sequences of unknown length", f"build it again: {dataset}"
        elif joined:
            found, remedy = "labels alone", f"evaluate {joined}, which its labels are joined to"
        else:
            found, remedy = "labels alone", "evaluate a dataset of images"
        return ShiftlakeError(
            "A model is run on images, and this dataset holds none.",
            expected="a dataset of images, or of sequences with their number of frames",
            found=found,
            where=f"{dataset}, {shard.name}",
            remedy=remedy,
        )


def told(sample: Sample, reason: str | None) -> str | None:
    """Why a sample cannot be decoded; where it was sealed as failed, as its seal says."""
    return reason and str(sample.meta.get("reason", reason))


def source_undecodable(error: UndecodableImage, out: Pixels) -> str:
    """Blacken the place of a sample made on the fly; say why, in the words of the stored form."""
    out.fill(0)
    return reason_undecodable(error)


def reason_undecodable(error: UndecodableImage) -> str:
    """Why a sample made on the fly cannot be made, in the words of the stored form."""
    return f"source cannot be decoded: {error.found}"
