"""A small network and a trap, imported by registry reference."""

import functools
import os
from pathlib import Path
from subprocess import run

import torch
from torch import nn


def two_layers(outputs: int = 3) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, outputs))


def tied() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    return model


def no_network() -> str:
    return "no network"


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch '{self.path}'",)


ready = functools.partial(run, shell=True)


def images() -> torch.Tensor:
    return torch.linspace(-1, 1, 24).view(2, 3, 2, 2)
