"""On what an evaluation ran: versions of the libraries, the driver and the device."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import PIL
import pyarrow as pa
import torch

# What models may be built with, and the distribution it comes in.
_OPTIONAL = {
    "timm": "timm",
    "torchvision": "torchvision",
    "open_clip": "open_clip_torch",
    "onnxruntime": "onnxruntime",
}
_OF_KIND = {"onnx": "onnxruntime", "hugging_face": "timm"}
_DRIVER = Path("/proc/driver/nvidia/version")


def versions(device: str, kind: str) -> dict[str, str]:
    """Versions of what took part in an evaluation, by name.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        With a GPU its driver, CUDA and cuDNN are named as well.
    kind : str
        The model's kind: its library takes part, though only other processes may have imported it.
    """
    found = {
        "torch": torch.__version__,
        "pillow": PIL.__version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }
    for module, distribution in _OPTIONAL.items():
        if module in sys.modules or module == _OF_KIND.get(kind, kind):
            found[module] = _installed(distribution)
    if device == "cuda":
        found["cuda"] = str(torch.version.cuda)
        found["cudnn"] = str(torch.backends.cudnn.version())  # type: ignore[no-untyped-call]
        found["driver"] = _driver()
    return found


def device_name(device: str) -> str:
    """The device's name: a GPU's model, or the processor's architecture.

    Parameters
    ----------
    device : str
        ``cpu``, ``cuda`` for the current GPU, or one of them, as ``cuda:1``.
    """
    return torch.cuda.get_device_name(device) if device != "cpu" else platform.machine()


def _installed(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def _driver() -> str:
    try:
        found = re.search(r"\b\d{3,4}\.\d+(\.\d+)?\b", _DRIVER.read_text())
    except OSError:
        return "unknown"
    return found.group() if found else "unknown"
