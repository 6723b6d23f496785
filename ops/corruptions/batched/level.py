"""What a batched kernel is given beside the images, and what each of their files offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from ops.corruptions.batched.keyed import BatchDraws
from ops.corruptions.kernel import Image


@dataclass(frozen=True)
class BatchLevel:
    """One severity of a corruption for a batch of images.

    Parameters
    ----------
    parameters : mapping
        The corruption's own, by name, as in the table of parameters.
    draws : BatchDraws
        The images' random numbers.
    textures : tuple of uint8 arrays, shape (height, width, 3), optional
        The frost photographs in RGB, frost1 first.
    """

    parameters: Mapping[str, Any]
    draws: BatchDraws
    textures: tuple[Image, ...] | None = None


class BatchKernel(Protocol):
    """A corruption of a batch: uint8 (images, 3, height, width) in and out, on one device."""

    def __call__(self, images: Tensor, level: BatchLevel) -> Tensor:
        """Corrupt the images; they are not written to."""
