"""The draws of torch's generator, which made gaussian_noise and nothing else of ImageNet-P."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ops.corruptions.draws import Doubles, Shape

if TYPE_CHECKING:
    import torch


class TorchReplay:
    """Normal numbers of ``torch.randn`` on the CPU, in the order they are asked for.

    Parameters
    ----------
    generator : torch.Generator
        Advanced by every draw, as ``torch.manual_seed``'s is. The last bits of what torch makes
        of a seed are others on a processor without AVX2.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator

    def normal(self, purpose: str, loc: float, scale: float, shape: Shape) -> Doubles:
        """Float32 numbers of an image's shape (height, width, 3), drawn channel by channel."""
        import cv2
        import torch

        height, width, channels = shape
        drawn = torch.randn((channels, height, width), generator=self.generator)
        return np.asarray(loc + scale * cv2.merge([*drawn.numpy()]))
