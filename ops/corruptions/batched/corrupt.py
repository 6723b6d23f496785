"""Corrupt a batch: what was asked for is checked here, and the batched kernels do the rest."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import cast

import torch
from torch import Tensor

from ops.corruptions import parameters
from ops.corruptions.arguments import given_textures
from ops.corruptions.batched.jpeg import round_trip
from ops.corruptions.batched.keyed import BatchDraws, given_keys
from ops.corruptions.batched.level import BatchKernel, BatchLevel
from ops.corruptions.corrupt import DATASET, check_corruption, check_severity
from ops.corruptions.encoding import STORED_QUALITY
from ops.corruptions.kernel import Image
from ops.corruptions.keyed import Key
from ops.errors import ShiftlakeError

# Most corruptions have a file of their own name.
_SHARED_FILES: dict[str, str] = {
    "gaussian_noise": "noise",
    "shot_noise": "noise",
    "impulse_noise": "noise",
    "speckle_noise": "noise",
    "brightness": "hsv",
    "saturate": "hsv",
    "jpeg_compression": "jpeg",
}
# Images worked on together: on a CPU few enough for its caches, on a device enough to fill it
# while the intermediate results stay within a few gigabytes.
_TOGETHER = {"cpu": 4, "cuda": 256}


def corrupt_batch(
    images: Tensor,
    corruption: str,
    severity: int,
    keys: Sequence[Key | str],
    *,
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
    stored: bool = False,
) -> Tensor:
    """Corrupt a batch of images as ImageNet-C does, with keyed draws.

    Parameters
    ----------
    images : uint8 tensor, shape (images, 3, size, size)
        RGB, of the preset's size, on the device that is to do the work.
    corruption : str
        One of `ops.corruptions.CORRUPTIONS`.
    severity : int
        1 to 5.
    keys : sequence of Key or str
        One for each image. A string is ``Key(string)``, and a key without a dataset one of
        ``"imagenet_c"``.
    preset : str
        Table of parameters; see :func:`ops.corruptions.parameters.presets`.
    textures : sequence of uint8 arrays, shape (height, width, 3), optional
        The frost photographs in RGB, frost1 first, 5 or 6; by default those that are installed.
    stored : bool
        Whether to give the pixels that a model sees when the corrupted image has been stored as
        the benchmark stores it: a JPEG file of quality 85. Bit for bit those of libjpeg-turbo.

    Returns
    -------
    uint8 tensor, shape (images, 3, size, size)
        On the images' device; each depends on its own image and key alone. Against
        :func:`ops.corruptions.corrupt` with the same key in mode ``"fast"``, before a file is
        made, at most one sample in 10,000 differs, by one grey level (the exceptions are told
        in the files of the corruptions).

    Raises
    ------
    ShiftlakeError
        If a name, the severity, the images, the photographs or the keys are not as told above.
    """
    check_corruption(corruption)
    check_severity(severity)
    table = parameters.load(preset)
    check_images(images, preset)
    photographs = given_textures(textures)
    own = given_keys(keys, len(images), DATASET)
    module = import_module(f"ops.corruptions.batched.{_SHARED_FILES.get(corruption, corruption)}")
    kernel = cast(BatchKernel, getattr(module, corruption))
    draws = BatchDraws.of(own, corruption, severity, images.device)
    out = torch.empty_like(images, memory_format=torch.contiguous_format)
    step = _TOGETHER.get(images.device.type, _TOGETHER["cuda"])
    for start in range(0, len(images), step):
        part = slice(start, start + step)
        level = BatchLevel(table[corruption][severity - 1], draws.part(part), photographs)
        corrupted = kernel(images[part].contiguous(), level)
        out[part] = round_trip(corrupted, STORED_QUALITY) if stored else corrupted
    return out


def check_images(images: Tensor, preset: str) -> None:
    """Raise unless these are images that the preset's parameters are meant for."""
    size = parameters.size(preset)
    if not isinstance(images, Tensor) or images.dtype != torch.uint8:
        raise ShiftlakeError(
            "These are no images of 8-bit samples.",
            expected=f"a uint8 tensor of shape (images, 3, {size}, {size})",
            found=str(getattr(images, "dtype", type(images).__name__)),
            where="images",
            remedy="Give RGB samples in 0..255: corruptions come before any normalisation.",
        )
    if images.ndim != 4 or tuple(images.shape[1:]) != (3, size, size):
        raise ShiftlakeError(
            "The images do not have the shape that the parameters are for.",
            expected=f"shape (images, 3, {size}, {size}), as {preset} needs",
            found=f"shape {tuple(images.shape)}",
            where="images",
            remedy="Resize and crop first, put the channels before rows and columns, "
            "or choose another preset.",
        )
