"""Snow: one fall of flakes for each image, blown along a turning line."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ops.corruptions.batched.division import divided
from ops.corruptions.batched.level import BatchLevel as CorruptionLevel
from ops.corruptions.batched.motion_taps import motion_blurred
from ops.corruptions.batched.snow import flakes, whiteness
from ops.perturbations.batched.level import BatchLevel, centre


def snow(images: Tensor, level: BatchLevel) -> Iterator[Tensor]:
    """Blown in single precision, laid over the images in double."""
    clean = centre(images)
    layers = flakes(clean, CorruptionLevel(level.parameters, level.draws))
    pictures = _whitened(clean, level.parameters["mix"])
    radius, sigma = level.parameters["radius"], level.parameters["sigma"]
    for angle in level.sweep("angle"):
        angles = torch.full((len(images),), angle, dtype=torch.float64, device=images.device)
        blown = motion_blurred(layers, radius, sigma, angles)
        unit = divided(blown.to(torch.float64), 255.0)
        covered = (pictures + unit).add_(unit.flip((2, 3))).clamp_(max=1.0)
        yield covered.mul_(255.0).to(torch.uint8)


def _whitened(clean: Tensor, mix: float) -> Tensor:
    """The pictures on [0, 1] before any snow lies on them, float64."""
    single, white = whiteness(clean)
    unit = divided(clean.to(torch.float64), 255.0)
    white = torch.where(white > single, white.to(torch.float64), unit)
    return unit.mul_(mix).add_(white.mul_(1 - mix))
