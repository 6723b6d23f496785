"""DeepCorrect's distortions: Gaussian blur and additive white Gaussian noise, six levels each.

Not the corruptions of the same names: the levels, the border, the length of the kernel and the
missing clip are others. The presets are in ``data/distortions.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt
import yaml
from scipy import ndimage

from ops.corruptions import stored_kernels
from ops.corruptions.arguments import is_whole
from ops.corruptions.given_draws import given_draws
from ops.corruptions.keyed import Key
from ops.corruptions.opencv_threads import one_thread
from ops.errors import ShiftlakeError

DISTORTIONS: tuple[str, ...] = ("gaussian_blur", "gaussian_noise")
LEVELS: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
# Part of every distorted dataset's version: raised by one whenever a pixel changes.
ENGINE_VERSION = 1
# The family of a key that names none.
DATASET = "distorted"

Samples = npt.NDArray[np.uint8] | npt.NDArray[np.float32]

# What lies outside the picture, as the presets name it, OpenCV and SciPy.
_BORDERS: dict[str, tuple[int, Literal["constant"]]] = {"zeros": (cv2.BORDER_CONSTANT, "constant")}
_FILE = Path(__file__).with_name("data") / "distortions.yaml"


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
    return found


def presets() -> tuple[str, ...]:
    """Names of the presets: a benchmark, and the paper or the published code."""
    return tuple(_tables())


def parameters(distortion: str, level: int, preset: str) -> dict[str, Any]:
    """What a preset says about one level of a distortion.

    Returns
    -------
    dict
        ``sigma``, ``taps``, ``border`` and ``arithmetic`` of the blur, ``sigma`` and ``common``
        of the noise, as told at the head of the data file.

    Raises
    ------
    ShiftlakeError
        If preset, distortion or level do not exist.
    """
    _require("preset", preset, presets())
    _require("distortion", distortion, DISTORTIONS)
    _require("level", level, LEVELS)
    table = _tables()[preset][distortion]
    return {
        name: value[level - 1] if isinstance(value, list) else value
        for name, value in table.items()
    }


def resized(image: npt.NDArray[np.uint8], preset: str) -> npt.NDArray[np.uint8]:
    """A picture at the size at which the preset distorts it; its ratio is not kept.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    preset : str

    Returns
    -------
    uint8 array, shape (size, size, 3)
        The input itself where the preset has no size.
    """
    _require("preset", preset, presets())
    size = _tables()[preset]["size"]
    if size is None or image.shape[:2] == (size, size):
        return image
    # Plain bilinear: of a large photograph most pixels are skipped, as in the published code.
    with one_thread():
        small = cv2.resize(image, (size, size), interpolation=cv2.INTER_LINEAR)
    return np.asarray(small, np.uint8)


def distort(
    image: Samples,
    distortion: str,
    level: int,
    *,
    preset: str,
    rng: np.random.RandomState | None = None,
    key: Key | str | None = None,
) -> Samples:
    """Distort one image as DeepCorrect does.

    Parameters
    ----------
    image : uint8 or float32 array, shape (height, width, 3)
        RGB on the scale 0 to 255, of any size: the published code distorts test images at
        256 x 256 (:func:`resized`) and training images after the crop.
    distortion : {"gaussian_blur", "gaussian_noise"}
    level : int
        1 to 6.
    preset : str
        One of :func:`presets`.
    rng, key : numpy.random.RandomState, or Key or str
        Where the noise comes from, one of the two; the blur needs neither. A string is
        ``Key(string)``, and a key without a dataset one of ``"distorted"``. With a key, a preset
        with common noise has one field for all levels; with a generator, restarting it is up to
        the caller.

    Returns
    -------
    uint8 or float32 array, shape (height, width, 3)
        uint8 where the preset's arithmetic is; else float32, neither rounded nor clipped.

    Raises
    ------
    ShiftlakeError
        If a name, the level, the image or the source of the noise is not as told above.

    Notes
    -----
    Borkar and Karam, "DeepCorrect: correcting DNN models against image distortions"
    (arXiv:1705.02406), section III; the details are those of the published code.
    """
    chosen = parameters(distortion, level, preset)
    noisy = distortion == "gaussian_noise"
    # Common noise is one field, scaled: that of no level.
    place = 0 if noisy and chosen["common"] else level
    draws = given_draws(distortion, place, rng, key, dataset=DATASET, drawing=noisy)
    if distortion == "gaussian_blur":
        return _blur(_checked(image, chosen["arithmetic"]), **chosen)
    noise = draws.normal("noise", 0.0, chosen["sigma"], _checked(image, "float").shape)
    return (image + noise).astype(np.float32)


def _blur(image: Samples, *, sigma: float, taps: int, border: str, arithmetic: str) -> Samples:
    _require("border", border, tuple(_BORDERS))
    of_opencv, of_scipy = _BORDERS[border]
    if arithmetic == "uint8":
        with one_thread():
            blurred = cv2.GaussianBlur(image, (taps, taps), sigma, None, sigma, of_opencv)
        return np.asarray(blurred, np.uint8)
    # Not OpenCV's floating-point filter, whose last bits depend on the processor. With an even
    # number of taps there is one more before the pixel than after it.
    half = stored_kernels.distortion(sigma, taps)
    weights = np.concatenate((half[::-1], half[taps % 2 :]))
    found: npt.NDArray[np.float64] = image.astype(np.float64)
    for axis in (0, 1):
        found = ndimage.correlate1d(found, weights, axis, mode=of_scipy, cval=0.0)
    return found.astype(np.float32)


def _checked(image: Samples, arithmetic: str) -> Samples:
    allowed = ("uint8",) if arithmetic == "uint8" else ("uint8", "float32")
    found = getattr(image, "dtype", type(image).__name__)
    shape: tuple[int, ...] = getattr(image, "shape", ())
    if str(found) not in allowed or len(shape) != 3 or shape[2] != 3:
        raise ShiftlakeError(
            "This is no image that can be distorted so.",
            expected=f"{' or '.join(allowed)} of shape (height, width, 3)",
            found=f"{found} of shape {shape}",
            where="image",
            remedy="give RGB on the scale 0 to 255",
        )
    return image


def _require(what: str, found: object, choices: Sequence[object] | Mapping[str, object]) -> None:
    if not (isinstance(found, str) or is_whole(found)) or found not in choices:
        raise ShiftlakeError(
            f"There is no such {what}.",
            expected=f"one of {', '.join(map(str, choices))}",
            found=repr(found),
            where=what,
            remedy=f"choose one of these for the {what}",
        )
