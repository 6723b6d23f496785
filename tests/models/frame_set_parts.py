"""Hand-made frame sets and networks whose losses can be told in advance."""

from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image
from torch import nn

from ops.models import ModelEntry, Transform, register
from ops.models.weights import canonical_bytes
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root

SIDE = 8


def png(level: int, side: int = SIDE) -> bytes:
    """One grey level, kept exactly."""
    target = io.BytesIO()
    Image.fromarray(np.full((side, side, 3), level, np.uint8)).save(target, "PNG")
    return target.getvalue()


def frame(clip: str, offset: int, image: bytes, labels: list[int], name: str) -> Sample:
    benchmark, _, condition = name.partition("/")
    return Sample(
        f"{clip}/000050/{50 + offset:06d}",
        image,
        "jpg",
        None,
        {
            "benchmark": benchmark,
            "condition": condition,
            "source_key": clip,
            "source_file": f"{clip}.mp4",
            "labels": labels,
            "format": "png",
            "frame_set": f"{clip}/000050",
            "frame_offset": offset,
        },
    )


def seal_sets(
    root: Root,
    sets: dict[str, tuple[list[int], dict[int, bytes | int]]],
    name: str = "frame_sets/made",
    space: str = "imagenet_vid30",
) -> Manifest:
    """Seal sets given by clip as (labels, level or file by offset)."""
    samples = [
        frame(clip, offset, png(data) if isinstance(data, int) else data, labels, name)
        for clip, (labels, frames) in sets.items()
        for offset, data in frames.items()
    ]
    return write_dataset(root, name, samples, label_space=space, per_shard=10_000)


class Brightness(nn.Module):
    """Two classes: the logits are plus and minus a multiple of the mean brightness."""

    def __init__(self, gain: float = 4.0) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(gain))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        level = images.mean(dim=(1, 2, 3)) * self.gain
        return torch.stack([level, -level], dim=1)


class Exponential(Brightness):
    """The same on an exponential scale, which one step that is too long overflows."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return super().forward(images).exp()


class Normalised(nn.Module):
    """A batch normalisation before a linear layer."""

    def __init__(self, outputs: int = 2) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.head = nn.Linear(3, outputs)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(images).mean(dim=(2, 3)))


def add_model(
    root: Root,
    name: str,
    made: nn.Module,
    *,
    class_map: tuple[int, ...] | None = (0, 1),
    label_space: str = "imagenet_vid30",
    **kwargs: object,
) -> ModelEntry:
    """Register a network of this module; its input is the pixels on the scale -1 to 1."""
    entry = ModelEntry(
        name=name,
        kind="checkpoint",
        reference=f"frame_set_parts:{type(made).__name__}",
        kwargs=kwargs,
        transform=Transform(resize=SIDE, crop=SIDE, mean=(0.5,) * 3, std=(0.5,) * 3),
        label_space=label_space,
        class_map=class_map,
    )
    path = root.scratch() / f"{name}.safetensors"
    path.write_bytes(canonical_bytes(made))
    return register(root, entry, path)
