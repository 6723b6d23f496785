"""A network that takes images of 16 pixels, to be exported, and files made of it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

SIDE = 16
CLASSES = 5


class Small(nn.Module):
    """A convolution, a normalisation and two linear layers, one of them behind a flatten."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2)
        self.norm = nn.BatchNorm2d(4)
        self.hidden = nn.Linear(4 * 7 * 7, 8)
        self.head = nn.Linear(8, CLASSES)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        self.register_buffer("scale", torch.tensor(0.5), persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        maps = torch.relu(self.norm(self.conv(images)))
        return self.head(torch.relu(self.hidden(maps.flatten(1)))) * self.scale


def pictures(count: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(count, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(seed))


def expected(images: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return Small().eval()(images)


def export(
    path: Path,
    network: nn.Module | None = None,
    *,
    batch: int = 2,
    dynamic: bool = True,
    dtype: torch.dtype = torch.float32,
    **bounds: int,
) -> Path:
    model = (network or Small().eval()).to(dtype)
    shapes = ({0: torch.export.Dim("batch", **bounds)},) if dynamic else None
    program = torch.export.export(model, (pictures(batch).to(dtype),), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return path


def altered(path: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy of an archive; `change` gives an entry's new content, or None to leave it out."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            content = change(name.partition("/")[2], source.read(name))
            if content is not None:
                copy.writestr(name, content)
    return target


def with_entry(path: Path, target: Path, name: str, content: bytes) -> Path:
    """A copy of an archive with one entry more."""
    altered(path, target, lambda _, data: data)
    with zipfile.ZipFile(target, "a") as copy:
        copy.writestr(f"{copy.namelist()[0].partition('/')[0]}/{name}", content)
    return target


class Sprung:
    """Makes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch '{self.trace}'",)


def pickled(value: object) -> bytes:
    torch.save(value, buffer := io.BytesIO())
    return buffer.getvalue()


def in_program(change: Callable[[dict], None]) -> Callable[[str, bytes], bytes]:
    """A change of the graph alone."""

    def changed(name: str, data: bytes) -> bytes:
        if name != "models/model.json":
            return data
        program = json.loads(data)
        change(program)
        return json.dumps(program).encode()

    return changed
