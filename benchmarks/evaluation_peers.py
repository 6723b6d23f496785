"""The peers of a whole evaluation on a CPU: timm's validation loop and CLIP_benchmark's.

Both are written against the public interfaces of what they use, as their projects use them. timm's
takes a folder of files through `create_dataset` and `create_loader` with its prefetcher, which
keeps pixels at 8 bits until the main process; accuracy and loss are accumulated. CLIP_benchmark's
reads WebDataset shards, decodes to Pillow, applies torchvision's transforms in the workers, and
keeps all logits. Neither stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import webdataset

from benchmarks.torch_input import FOUND
from ops.models import Transform


def timm_loader(files: Path, transform: Transform, batch_size: int, workers: int) -> Any:
    """A folder of classes by timm; the workers live on between passes."""
    from timm.data import create_dataset, create_loader

    assert FOUND, "timm needs torchvision"
    crop, resize = transform.crop, transform.resize
    assert isinstance(crop, int)
    assert isinstance(resize, int)
    return create_loader(
        create_dataset("", root=str(files)),
        input_size=(3, crop, crop),
        batch_size=batch_size,
        use_prefetcher=True,
        interpolation=transform.interpolation,
        mean=transform.mean,
        std=transform.std,
        num_workers=workers,
        crop_pct=crop / resize,
        crop_mode="center",
        pin_memory=False,
        device=torch.device("cpu"),
    )


def timm_validate(model: torch.nn.Module, loader: Any, channels_last: bool) -> int:
    """The loop of timm's validation script; the number of images."""
    from timm.utils import AverageMeter, accuracy

    losses, top1, top5 = AverageMeter(), AverageMeter(), AverageMeter()
    criterion = torch.nn.CrossEntropyLoss()
    seen = 0
    with torch.inference_mode():
        for images, target in loader:
            if channels_last:
                images = images.contiguous(memory_format=torch.channels_last)
            output = model(images)
            loss = criterion(output, target)
            first, fifth = accuracy(output, target, topk=(1, 5))
            losses.update(loss.item(), images.size(0))
            top1.update(first.item(), images.size(0))
            top5.update(fifth.item(), images.size(0))
            seen += len(images)
    return seen


def clip_loader(shards: list[Path], transform: Transform, batch_size: int, workers: int) -> Any:
    """CLIP_benchmark's loader: a WebDataset pipeline inside torch's DataLoader."""
    from torchvision import transforms

    filters = transforms.InterpolationMode
    steps = transforms.Compose(
        [
            transforms.Resize(transform.resize, filters(transform.interpolation)),
            transforms.CenterCrop(transform.crop),
            transforms.ToTensor(),
            transforms.Normalize(transform.mean, transform.std),
        ]
    )
    dataset = (
        webdataset.WebDataset([str(shard) for shard in shards], shardshuffle=False)
        .decode("pilrgb")
        .to_tuple("jpg", "cls")
        .map_tuple(steps, None)
        .batched(batch_size)
    )
    return torch.utils.data.DataLoader(
        dataset, batch_size=None, shuffle=False, num_workers=workers, persistent_workers=workers > 0
    )


def clip_classify(model: torch.nn.Module, loader: Any) -> int:
    """The loop of CLIP_benchmark's classification, the model in place of the two towers."""
    true, predicted = [], []
    with torch.no_grad():
        for images, target in loader:
            logits = model(images)
            true.append(torch.as_tensor(target))
            predicted.append(logits.float())
    top = torch.cat(predicted).topk(5).indices
    (top == torch.cat(true)[:, None]).any(1).float().mean().item()
    return len(top)


def timm_pixels(loader: Any) -> Iterator[torch.Tensor]:
    """The 8-bit pixels of timm's loader, image by image, (3, height, width)."""
    for images, _ in loader.loader:
        yield from images


def clip_inputs(loader: Any) -> Iterator[torch.Tensor]:
    """The float32 inputs of CLIP_benchmark's loader, image by image."""
    for images, _ in loader:
        yield from images
