"""Networks small enough to try an evaluation in milliseconds; imported by registry reference."""

import os

import torch
from torch import nn


class Pooled(nn.Module):
    """Logits that are a fixed linear map of the image, averaged over a grid."""

    def __init__(self, outputs: int, seed: int = 0, grid: int = 4) -> None:
        super().__init__()
        self.grid = grid
        self.linear = nn.Linear(3 * grid * grid, outputs)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        pooled = nn.functional.adaptive_avg_pool2d(images, self.grid)
        return self.linear(pooled.flatten(1))


class ShortOfMemory(Pooled):
    """Runs out of memory on more than `fits` images."""

    def __init__(self, outputs: int, fits: int) -> None:
        super().__init__(outputs)
        self.fits = fits

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if len(images) > self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return super().forward(images)


class Overflowing(Pooled):
    """Gives NaN for dark images."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits = super().forward(images)
        logits[images.mean(dim=(1, 2, 3)) < -1.5] = float("nan")
        return logits


class Scaled(Pooled):
    """Gives logits of any size."""

    def __init__(self, outputs: int, scale: float) -> None:
        super().__init__(outputs)
        self.scale = scale

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return super().forward(images) * self.scale


class Raising(Pooled):
    """Raises for dark images."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if (images.mean(dim=(1, 2, 3)) < -1.5).any():
            raise RuntimeError("no such patch\nand a second line")
        return super().forward(images)


class Leaving(Pooled):
    """Ends the process, as a script would."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        raise SystemExit(3)


class Listing(Pooled):
    """Returns a list of tensors, as a detector does."""

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        return [super().forward(images)]


def no_network() -> str:
    return "not a network"


class Scattering(Pooled):
    """Uses an operator of which torch has no deterministic form."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits = super().forward(images)
        return logits.put_(torch.zeros(1, dtype=torch.long), torch.ones(1))


class Fragile(Pooled):
    """Raises on some images, and not on a blank one."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if images.std() > 0 and len(images) == 2:
            raise ValueError("two images are one too many")
        return super().forward(images)


class Deadly(Pooled):
    """Ends its process."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        os._exit(9)
