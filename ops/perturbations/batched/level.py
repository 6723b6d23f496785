"""What a batched kernel is given beside the images, and what each of their files offers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from ops.corruptions.batched.keyed import BatchDraws
from ops.perturbations import facts
from ops.perturbations.kernel import Steps
from ops.pixels import crop_offset


@dataclass(frozen=True)
class BatchLevel(Steps):
    """A perturbation of a batch of images at one difficulty.

    Parameters
    ----------
    draws : BatchDraws
        The images' random numbers.
    """

    draws: BatchDraws


class BatchKernel(Protocol):
    """A perturbation of a batch."""

    def __call__(self, images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
        """Yield the frames of all images, uint8 (images, 3, 224, 224), one after the other.

        ``images`` is uint8 (images, 3, height, width), the shorter side 256.
        """


def corner(images: Tensor) -> tuple[int, int]:
    """Row and column at which the frame's part of the images begins."""
    size = facts.size()
    return crop_offset(images.shape[2], size), crop_offset(images.shape[3], size)


def centre(images: Tensor) -> Tensor:
    """The frame's part of the images, uint8 of shape (images, 3, 224, 224), contiguous."""
    (top, left), size = corner(images), facts.size()
    return images[:, :, top : top + size, left : left + size].contiguous()
