"""The peer of the evaluation input: torch's DataLoader over a folder of images.

With torchvision it is ``ImageFolder`` and torchvision's transforms. Without, the same steps in the
same order with Pillow and torch, so that the benchmark runs on a plain installation; `NAME` says
which of the two it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from ops.models import Transform
from ops.pixels import crop_offset, resized_size


def _torchvision() -> bool:
    # The wheel of torchvision is built for CUDA; beside a CPU torch its import stops at these two
    # operators, which no image transform uses.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        return False
    return True


FOUND = _torchvision()
NAME = "torchvision ImageFolder" if FOUND else "own ImageFolder (torchvision cannot be imported)"


class PlainFolder(Dataset):
    """What ImageFolder and the four transforms do to an image, step by step."""

    def __init__(self, folder: Path, transform: Transform) -> None:
        self.files = sorted(path for path in folder.glob("*/*") if path.is_file())
        self.transform = transform
        self.mean = torch.tensor(transform.mean).view(-1, 1, 1)
        self.std = torch.tensor(transform.std).view(-1, 1, 1)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        with self.files[index].open("rb") as file:
            image = Image.open(file).convert("RGB")
        width, height = resized_size(*image.size, self.transform.resize)
        crop = self.transform.crop
        filters = Image.Resampling[self.transform.interpolation.upper()]
        image = image.resize((width, height), filters)
        left, top = crop_offset(width, crop), crop_offset(height, crop)
        image = image.crop((left, top, left + crop, top + crop))
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()
        return pixels.to(torch.float32).div(255).sub_(self.mean).div_(self.std), 0


def torch_input(folder: Path, transform: Transform, batch_size: int, workers: int) -> DataLoader:
    """Batches of (pixels, label), in the order of the files; the workers live on between passes."""
    dataset: Dataset
    if FOUND:
        from torchvision import datasets, transforms

        filters = transforms.InterpolationMode
        steps = [
            transforms.Resize(transform.resize, filters(transform.interpolation)),
            transforms.CenterCrop(transform.crop),
            transforms.ToTensor(),
            transforms.Normalize(transform.mean, transform.std),
        ]
        dataset = datasets.ImageFolder(str(folder), transforms.Compose(steps))
    else:
        dataset = PlainFolder(folder, transform)
    return DataLoader(dataset, batch_size=batch_size, num_workers=workers, persistent_workers=True)
