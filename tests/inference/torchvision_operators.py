"""A torchvision that imports and detects beside a torch that it was not built for.

A torchvision built for CUDA has none of its operators beside a torch for CPUs. The detectors used
here need one of them, whose CPU form is then written in Python.
"""

from __future__ import annotations

import importlib
from contextlib import suppress

import torch

# What is declared lasts as long as its library.
_LIBRARIES: list[torch.library.Library] = []


def provide() -> None:
    """Make ``torchvision.models.detection`` import, and its non-maximum suppression work."""
    own = torch.library.Library("torchvision", "FRAGMENT")
    _LIBRARIES.append(own)
    for name in ("nms", "qnms"):
        # Declared already where torchvision is whole, or another test did.
        with suppress(RuntimeError):
            own.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    importlib.import_module("torchvision")
    extension = importlib.import_module("torchvision.extension")
    if not extension._has_ops():
        own.impl("nms", surest, "CPU")
        extension._has_ops = lambda: True


def surest(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Boxes that no surer kept one overlaps by more, by descending score."""
    order = torch.argsort(scores, descending=True, stable=True)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept: list[int] = []
    gone = torch.zeros(len(boxes), dtype=torch.bool)
    for at in order.tolist():
        if gone[at]:
            continue
        kept.append(at)
        low = torch.maximum(boxes[at, :2], boxes[:, :2])
        high = torch.minimum(boxes[at, 2:], boxes[:, 2:])
        both = (high - low).clamp(min=0).prod(dim=1)
        gone |= both / (area[at] + area - both) > iou_threshold
    return torch.tensor(kept, dtype=torch.int64)
