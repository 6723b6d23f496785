"""A small convolutional network for 64-pixel images, trained in seconds on two cores."""

from __future__ import annotations

import torch
from torch import nn


class SmallCNN(nn.Module):
    """Six convolutions, batch-normalised, with global average pooling.

    Parameters
    ----------
    num_classes : int
        Number of logits.
    width : int
        Channels of the first stage; later stages have two and four times as many.

    Notes
    -----
    The input is float32 of shape (samples, 3, height, width), 32 pixels or more a side; it is
    meant for 64. The output has shape (samples, num_classes).
    """

    def __init__(self, num_classes: int, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *_block(3, width, stride=2),
            *_block(width, width, stride=1),
            *_block(width, 2 * width, stride=2),
            *_block(2 * width, 2 * width, stride=1),
            *_block(2 * width, 4 * width, stride=2),
            *_block(4 * width, 4 * width, stride=1),
        )
        self.classifier = nn.Linear(4 * width, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of a batch."""
        pooled = self.features(images).mean(dim=(2, 3))
        logits: torch.Tensor = self.classifier(pooled)
        return logits


def _block(inputs: int, outputs: int, *, stride: int) -> tuple[nn.Module, ...]:
    return (
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
