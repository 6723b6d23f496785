"""Elastic distortion on a batch: an affine warp and displacement fields of each image's own.

Where the fields' blur is wide (severities 1 and 2), it is computed more precisely than on the CPU:
the places that pixels are fetched from differ by some millionths of a pixel, and results by one
grey level where they lie on a whole one but for that.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from ops.corruptions.batched.affine import warp_affine
from ops.corruptions.batched.displacement import displace
from ops.corruptions.batched.division import divided
from ops.corruptions.batched.gaussian import blurred
from ops.corruptions.batched.level import BatchLevel
from ops.corruptions.batched.wide_gaussian import blurred_wide
from ops.corruptions.elastic_transform import TRUNCATE, WIDE


def elastic_transform(images: Tensor, level: BatchLevel) -> Tensor:
    """Warp, then fetch every pixel from a little elsewhere."""
    unit = divided(images.to(torch.float32), 255.0)
    warped = warp_affine(unit, _matrices(images, level))
    across, down = (_field(images, level, purpose) for purpose in ("field_x", "field_y"))
    return displace(warped, across, down)


def _matrices(images: Tensor, level: BatchLevel) -> Tensor:
    """What moves three corners of a square as drawn, float64 of shape (images, 2, 3)."""
    height, width = images.shape[2:]
    middle, reach = (height // 2, width // 2), min(height, width) // 3
    corners = _corners(middle, reach, images.device)
    jitter = level.parameters["jitter"]
    moves = level.draws.uniform("corners", -jitter, jitter, 6).reshape(-1, 3, 2)
    moved = (corners + moves.to(torch.float32)).to(torch.float64)
    # From the second corner the third lies to the left, and the first below it.
    first, second, third = moved.unbind(1)
    along = divided(second - third, 2 * reach)
    down = divided(first - second, 2 * reach)
    x, y = middle[0] + reach, middle[1] - reach
    return torch.stack((along, down, second - along * x - down * y), 2)


@lru_cache(maxsize=16)
def _corners(middle: tuple[int, int], reach: int, device: torch.device) -> Tensor:
    """Three corners of a square about the middle of the image, float32 of shape (3, 2)."""
    about = torch.tensor(((reach, reach), (reach, -reach), (-reach, -reach)), dtype=torch.float32)
    return (about + torch.tensor(middle)).to(device)


def _field(images: Tensor, level: BatchLevel, purpose: str) -> Tensor:
    """How far pixels are fetched from along one axis, float32 of shape (images, height, width)."""
    alpha, sigma = float(level.parameters["alpha"]), float(level.parameters["sigma"])
    count, _, height, width = images.shape
    words = level.draws.words(purpose, height * width)
    field = (words >> 8).to(torch.float32).mul_(2.0**-24).mul_(2.0).sub_(1.0)
    field = field.reshape(count, height, width)
    if sigma >= WIDE:
        wide = blurred_wide(field, sigma, truncate=TRUNCATE)
        return wide.mul_(alpha).to(torch.float32)
    if sigma:
        narrow = blurred(field[:, None], sigma, truncate=TRUNCATE, border="reflect")
        field = narrow[:, 0]
    return field * alpha
