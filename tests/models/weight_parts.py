"""A small network and a trap, imported by registry reference."""

import functools
import os
import sys
from collections import OrderedDict
from pathlib import Path
from subprocess import run

import torch
from torch import nn


def two_layers(outputs: int = 3, seed: int | None = None) -> nn.Module:
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, outputs))


FAULTS = {
    "nan": lambda logits: logits * float("nan"),
    "infinite": lambda logits: logits / 0,
    "probabilities": lambda logits: logits.softmax(dim=1),
    "sigmoid": lambda logits: logits.sigmoid(),
    "far": lambda logits: logits + 10,
    "list": lambda logits: [logits],
    "flat": lambda logits: logits.flatten(),
    "raises": lambda logits: logits @ logits,
}


class Faulty(nn.Module):
    """Two layers whose logits are spoilt in the end."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.layers = two_layers(seed=0)
        self.fault = fault

    def forward(self, pixels: torch.Tensor) -> object:
        return FAULTS[self.fault](self.layers(pixels))


def convolution() -> nn.Module:
    layers = OrderedDict(conv1=nn.Conv2d(3, 4, 2), flat=nn.Flatten(), fc2=nn.Linear(4, 3))
    return nn.Sequential(layers)


def tied() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    return model


def no_network() -> str:
    return "no network"


class Leaving(nn.Module):
    """Ends the process that makes it."""

    def __init__(self) -> None:
        sys.exit("left")


class OldNames(nn.Module):
    """A batch normalisation, and a layer that had another name in older releases."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.flat = nn.Flatten()
        self.head = nn.Linear(12, 3)

    def _load_from_state_dict(self, state: dict, prefix: str, *more: object) -> None:
        for part in ("weight", "bias"):
            if f"{prefix}fc.{part}" in state:
                state[f"{prefix}head.{part}"] = state.pop(f"{prefix}fc.{part}")
        super()._load_from_state_dict(state, prefix, *more)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.head(self.flat(self.norm(pixels)))


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch '{self.path}'",)


ready = functools.partial(run, shell=True)


def images() -> torch.Tensor:
    return torch.linspace(-1, 1, 24).view(2, 3, 2, 2)
