"""What the tests of perturbations share: generators, and a picture with every hard case."""

from __future__ import annotations

import numpy as np
import torch

from ops.perturbations import perturbations, sequence
from tests.parity import inputs

CONDITIONS = [
    (name, difficulty)
    for name, known in perturbations().items()
    for difficulty in range(1, len(known.levels) + 1)
]


def generator(perturbation: str, seed: int = 0) -> np.random.RandomState | torch.Generator:
    """The kind of generator that the official script drew this perturbation from."""
    if perturbation == "gaussian_noise":
        return torch.Generator().manual_seed(seed)
    return np.random.RandomState(seed)


def hard(width: int = 300) -> np.ndarray:
    """Flat colours, extremes, ramps and checkers, uint8 of shape (256, width, 3)."""
    tiles = inputs.hard()
    return tiles[np.arange(256) % len(tiles)][:, np.arange(width) % len(tiles)]


def made(image: np.ndarray, name: str, difficulty: int = 1, **options: object) -> np.ndarray:
    """A sequence by the key ``a``."""
    return sequence(image, name, key="a", difficulty=difficulty, **options)
