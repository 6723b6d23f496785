"""Corrupt one image: what was asked for is checked here, and the kernel does the rest."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np

from ops.corruptions import parameters
from ops.corruptions.arguments import (
    Mode,
    check_mode,
    check_samples,
    given_textures,
    is_whole,
)
from ops.corruptions.given_draws import given_draws
from ops.corruptions.kernel import Image, Level, kernel
from ops.corruptions.keyed import Key
from ops.corruptions.names import CORRUPTIONS, DETERMINISTIC_CORRUPTIONS, SEVERITIES
from ops.corruptions.opencv_threads import one_thread
from ops.errors import ShiftlakeError

# The family of a key that names none.
DATASET = "imagenet_c"


def corrupt(
    image: Image,
    corruption: str,
    severity: int,
    *,
    rng: np.random.RandomState | None = None,
    key: Key | str | None = None,
    mode: Mode = "fast",
    preset: str = "imagenet_224",
    textures: Sequence[Image] | None = None,
) -> Image:
    """Corrupt an image as ImageNet-C does.

    Parameters
    ----------
    image : uint8 array, shape (size, size, 3)
        RGB, of the preset's size, already resized and cropped.
    corruption : str
        One of `CORRUPTIONS`.
    severity : int
        1 to 5.
    rng : numpy.random.RandomState, optional
        Generator whose draws are taken in the official order: with ``RandomState(s)`` in mode
        ``"exact"`` the result is bit for bit that of imagenet-c 0.0.3 after
        ``numpy.random.seed(s)``.
    key : Key or str, optional
        Draws that depend on nothing but this key, the corruption and the severity. A string is
        ``Key(string)``, and a key without a dataset one of ``"imagenet_c"``.
    mode : {"fast", "exact"}
        Integer and single-precision arithmetic, or the official order of operations in double.
        Given the same draws, the two differ by at most one grey level, in at most one sample in
        10,000 of a photograph; in a picture made of flat blocks, where many samples have one
        value, in up to one in 1,000 of motion_blur and zoom_blur.
    preset : str
        Table of parameters; see :func:`ops.corruptions.parameters.presets`.
    textures : sequence of uint8 arrays, shape (height, width, 3), optional
        The frost photographs in RGB, frost1 first, 5 or 6; by default those that are installed.

    Returns
    -------
    uint8 array, shape (size, size, 3)
        The corrupted image in RGB. The input is not written to.

    Raises
    ------
    ShiftlakeError
        If a name, the severity, the image, the photographs or the source of draws is not as told
        above.

    Notes
    -----
    Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and
    perturbations" (arXiv:1903.12261), section 3 and appendix B.
    """
    check_corruption(corruption)
    check_severity(severity)
    check_mode(mode)
    table = parameters.load(preset)
    check_image(image, preset)
    level = Level(
        table[corruption][severity - 1],
        given_draws(
            corruption,
            severity,
            rng,
            key,
            dataset=DATASET,
            drawing=corruption not in DETERMINISTIC_CORRUPTIONS,
        ),
        given_textures(textures),
    )
    pixels = np.ascontiguousarray(image)
    with one_thread():
        if mode == "exact":
            return kernel(corruption).exact(pixels, level)
        return kernel(corruption).fast(pixels, [level])[0]


def check_corruption(corruption: str) -> None:
    """Raise unless this is the name of a corruption."""
    if not isinstance(corruption, str) or corruption not in CORRUPTIONS:
        asked = str(corruption)
        near = [name for name in CORRUPTIONS if asked and asked in name]
        near = near or difflib.get_close_matches(asked, CORRUPTIONS, n=3, cutoff=0.6)
        raise ShiftlakeError(
            "There is no corruption of this name.",
            expected="one of " + ", ".join(CORRUPTIONS),
            found=repr(corruption),
            where="corruption",
            remedy=f"Did you mean {' or '.join(near)}?" if near else "Choose one of the names.",
        )


def check_severity(severity: int) -> None:
    """Raise unless this is a severity of ImageNet-C."""
    if not is_whole(severity) or severity not in SEVERITIES:
        raise ShiftlakeError(
            "There is no such severity.",
            expected="1, 2, 3, 4 or 5",
            found=repr(severity),
            where="severity",
            remedy="Severity 0 is the clean image; the benchmark ends at 5."
            if is_whole(severity)
            else "Give a whole number.",
        )


def check_image(image: Image, preset: str) -> None:
    """Raise unless this is an image that the preset's parameters are meant for."""
    size = parameters.size(preset)
    shape = (size, size, 3)
    check_samples(image, str(shape))
    if image.shape != shape:
        remedy = "Resize and crop first (ImageNet-C: the shorter side to 256, the centre of 224)"
        others = {(parameters.size(name),) * 2 + (3,): name for name in parameters.presets()}
        if image.shape in others:
            remedy += f", or choose the preset {others[image.shape]}"
        elif size in image.shape:
            remedy = "Give one RGB image with its channels last: a grey one three times, as RGB"
        raise ShiftlakeError(
            "The image does not have the size that the parameters are for.",
            expected=f"shape {shape}, as {preset} needs",
            found=f"shape {image.shape}",
            where="image",
            remedy=f"{remedy}.",
        )
