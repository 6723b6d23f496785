"""Make the sequences of a batch: what was asked for is checked here, the kernels do the rest."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import cast

import torch
from torch import Tensor

from ops.corruptions.batched.keyed import BatchDraws, given_keys
from ops.corruptions.keyed import Key
from ops.errors import ShiftlakeError
from ops.perturbations import facts
from ops.perturbations.batched.level import BatchKernel, BatchLevel
from ops.perturbations.sequence import DATASET

# Which file of this folder holds which perturbation.
_FILES: dict[str, str] = {
    "gaussian_noise": "noise",
    "shot_noise": "noise",
    "speckle_noise": "noise",
    "motion_blur": "blur",
    "gaussian_blur": "blur",
    "zoom_blur": "geometry",
    "translate": "geometry",
    "rotate": "geometry",
    "tilt": "geometry",
    "scale": "geometry",
    "shear": "geometry",
    "brightness": "brightness",
    "snow": "snow",
    "spatter": "spatter",
}
# Images worked on together: on a CPU few enough for its caches, on a device enough to fill it
# while the intermediate results of a frame stay within a gigabyte.
_TOGETHER = {"cpu": 4, "cuda": 64}


def sequence_batch(
    images: Tensor,
    perturbation: str,
    keys: Sequence[Key | str],
    *,
    difficulty: int = 1,
) -> Tensor:
    """Make the frames of one perturbation of a batch of images, with keyed draws.

    Parameters
    ----------
    images : uint8 tensor, shape (images, 3, height, width)
        RGB, resized so that the shorter side is 256 and not cropped, on the device that is to do
        the work.
    perturbation : str
        One of `PERTURBATIONS` or `VALIDATION_PERTURBATIONS`.
    keys : sequence of Key or str
        One for each image. A string is ``Key(string)``, and a key without a dataset one of
        ``"imagenet_p"``.
    difficulty : int
        1, 2 or 3 for the noises, 1 for the others.

    Returns
    -------
    uint8 tensor, shape (images, frames, 3, 224, 224)
        On the images' device; each sequence depends on its own image and key alone. Against
        :func:`ops.perturbations.sequence` with the same key in mode ``"fast"``, at most one
        sample in 10,000 differs, by one level.

    Raises
    ------
    ShiftlakeError
        If a name, the difficulty, the images or the keys are not as told above.
    """
    known = facts.check_perturbation(perturbation)
    facts.check_difficulty(known, difficulty)
    check_images(images)
    own = given_keys(keys, len(images), DATASET)
    module = import_module(f"ops.perturbations.batched.{_FILES[perturbation]}")
    kernel = cast(BatchKernel, getattr(module, perturbation))
    draws = BatchDraws.of(own, perturbation, difficulty, images.device)
    side = facts.size()
    out = images.new_empty((len(images), known.frames, 3, side, side))
    step = _TOGETHER.get(images.device.type, _TOGETHER["cuda"])
    for start in range(0, len(images), step):
        part = slice(start, start + step)
        level = BatchLevel(known.levels[difficulty - 1], known.frames, draws.part(part))
        for number, frame in enumerate(kernel(images[part], level)):
            out[part, number] = frame
    return out


def check_images(images: Tensor) -> None:
    """Raise unless these are images that sequences can be made from."""
    side = facts.resized()
    expected = f"a uint8 tensor of shape (images, 3, height, width), the smaller of both {side}"
    if not isinstance(images, Tensor) or images.dtype != torch.uint8:
        raise ShiftlakeError(
            "These are no images of 8-bit samples.",
            expected=expected,
            found=f"{type(images).__name__} of {getattr(images, 'dtype', 'no type of samples')}",
            where="images",
            remedy="Give RGB samples in 0..255: perturbations come before any normalisation.",
        )
    if images.ndim != 4 or images.shape[1] != 3 or min(images.shape[2:]) != side:
        raise ShiftlakeError(
            "The images do not have the shape that the parameters are for.",
            expected=expected,
            found=f"shape {tuple(images.shape)}",
            where="images",
            remedy=f"Resize the shorter side to {side}, do not crop, and put the channels before "
            "rows and columns. There is no table for other sizes.",
        )
