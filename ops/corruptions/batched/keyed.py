"""Draws of many keys at once: the numbers of :class:`ops.corruptions.keyed.Keyed`, as tensors.

Here: the same words and the same laws, a row for each image. Their specification is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ops.corruptions.batched import philox
from ops.corruptions.keyed import PURPOSES, Key, Keyed, given_key
from ops.errors import ShiftlakeError


@dataclass(frozen=True)
class BatchDraws:
    """The draws of several images for one corruption at one severity.

    Parameters
    ----------
    philox_keys : int64 tensor, shape (images, 2)
        The generator's keys, on the device that the draws are wanted on.
    frame : int
        Tells apart what one key makes several of: the part of
        :class:`ops.corruptions.keyed.Keyed`.
    """

    philox_keys: Tensor
    frame: int = 0

    @classmethod
    def of(
        cls, keys: Sequence[Key], corruption: str, severity: int, device: torch.device
    ) -> BatchDraws:
        """The draws of some images' keys, on a device."""
        pairs = [Keyed(key, corruption, severity).philox_key for key in keys]
        keyed = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)
        return cls(keyed.to(device, non_blocking=True))

    def part(self, images: slice) -> BatchDraws:
        """The draws of some of the images."""
        return BatchDraws(self.philox_keys[images], self.frame)

    def of_frame(self, frame: int) -> BatchDraws:
        """The draws of one frame of the images' sequences."""
        return BatchDraws(self.philox_keys, frame)

    def words(self, purpose: str, n: int) -> Tensor:
        """Words of 32 random bits, int64 of shape (images, n)."""
        return philox.words(self.philox_keys, PURPOSES[purpose], n, self.frame)

    def halves(self, purpose: str, n: int) -> Tensor:
        """Words of 16 random bits, int64 of shape (images, n)."""
        return philox.halves(self.philox_keys, PURPOSES[purpose], n, self.frame)

    def uniform(self, purpose: str, low: float, high: float, n: int) -> Tensor:
        """Uniform numbers in [low, high), float64 of shape (images, n)."""
        steps = (self.words(purpose, n) >> 8).to(torch.float64)
        return steps.mul_(2.0**-24).mul_(high - low).add_(low)

    def integers(self, purpose: str, low: int, high: int, n: int) -> Tensor:
        """Integers of [low, high), int64 of shape (images, n)."""
        return (self.words(purpose, n) * (high - low) >> 32).add_(low)


def given_keys(keys: object, count: int, dataset: str) -> list[Key]:
    """The keys that an argument stands for, one for each of `count` images.

    Parameters
    ----------
    keys : sequence of Key or str
        As a caller gave them.
    count : int
        Of the images.
    dataset : str
        The family of a key that names none.

    Returns
    -------
    list of Key
        Each with a dataset.

    Raises
    ------
    ShiftlakeError
        If there are more or fewer, or one is no key.
    """
    several = isinstance(keys, Sequence) and not isinstance(keys, str | bytes)
    if not isinstance(keys, Sequence) or not several or len(keys) != count:
        raise ShiftlakeError(
            "Every image of a batch needs a key of its own.",
            expected=f"{count} keys",
            found=f"{len(keys)} keys"
            if isinstance(keys, Sequence) and several
            else f"{keys!r} of type {type(keys).__name__}",
            where="keys",
            remedy="Give a list with one key for each image, in the images' order.",
        )
    return [given_key(key, dataset) for key in keys]
