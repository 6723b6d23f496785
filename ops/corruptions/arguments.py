"""What corruptions, distortions and sequences alike ask of their arguments.

Here: whole numbers, modes of arithmetic, arrays of samples, lists of conditions, the frost
photographs. Not here: the names and sizes that one of the three knows alone, beside its own
function; and keys (:mod:`ops.corruptions.keyed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeGuard

import numpy as np
import numpy.typing as npt

from ops.errors import ShiftlakeError

Mode = Literal["exact", "fast"]
MODES: tuple[Mode, ...] = ("exact", "fast")
# The official code lists six photographs of frost and draws one of the first five.
_PHOTOGRAPHS = (5, 6)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether this is an integer, Python's or NumPy's; a truth value is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_mode(mode: object) -> None:
    """Raise unless there is such an arithmetic."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ShiftlakeError(
            "There is no such mode of arithmetic.",
            expected="'exact' or 'fast'",
            found=repr(mode),
            where="mode",
            remedy="Use 'fast' for making datasets and 'exact' for the official bits.",
        )


def check_samples(image: object, shape: str) -> None:
    """Raise unless this is an array of 8-bit samples; `shape` is told as what it should have."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        raise ShiftlakeError(
            "This is no image of 8-bit samples.",
            expected=f"a uint8 array of shape {shape}",
            found=f"{getattr(image, 'dtype', type(image).__name__)}",
            where="image",
            remedy="Give RGB samples in 0..255: for floats in [0, 1], "
            "np.rint(255 * image).astype(np.uint8)."
            if isinstance(image, np.ndarray)
            else 'Give an array: for a Pillow image, np.asarray(image.convert("RGB")).',
        )


def check_pairs(conditions: object) -> None:
    """Raise unless these are pairs of a name and a number, each given once."""
    pairs: list[Any] = list(conditions) if isinstance(conditions, Sequence) else [conditions]
    for number, pair in enumerate(pairs):
        two = isinstance(pair, tuple) and len(pair) == 2
        if not two or not isinstance(pair[0], str) or not is_whole(pair[1]):
            raise ShiftlakeError(
                "This is no condition.",
                expected="a name and a whole number, as ('fog', 3)",
                found=repr(pair),
                where=f"conditions, number {number}",
                remedy="Give a list of such pairs.",
            )
        if pairs.index(pair) < number:
            raise ShiftlakeError(
                "A condition is given twice.",
                expected="each condition once",
                found=repr(pair),
                where=f"conditions, numbers {pairs.index(pair)} and {number}",
                remedy="Give it once: both would be the same.",
            )


def given_textures(textures: object) -> tuple[npt.NDArray[np.uint8], ...] | None:
    """The frost photographs that an argument stands for.

    Parameters
    ----------
    textures : sequence of 5 or 6 uint8 arrays, shape (height, width, 3), or None
        As a caller gave them. Whether they cover a picture is asked where one is laid over it.

    Returns
    -------
    tuple of uint8 arrays, or None
        None stands for those that are installed.

    Raises
    ------
    ShiftlakeError
        If there are more or fewer, or one is of another type or shape.
    """
    if textures is None:
        return None
    found: tuple[Any, ...] = tuple(textures) if isinstance(textures, Sequence) else (textures,)
    if isinstance(textures, np.ndarray):
        found = tuple(textures)
    for number, texture in enumerate(found, 1):
        shape: tuple[int, ...] = getattr(texture, "shape", ())
        kind = getattr(texture, "dtype", type(texture).__name__)
        if (
            not isinstance(texture, np.ndarray)
            or kind != np.uint8
            or len(shape) != 3
            or shape[2] != 3
        ):
            raise ShiftlakeError(
                "This is no frost photograph in RGB.",
                expected="a uint8 array of shape (height, width, 3)",
                found=f"{kind} of shape {shape}",
                where=f"textures, photograph {number}",
                remedy="Convert it to 8-bit RGB, without an alpha channel.",
            )
    if len(found) not in _PHOTOGRAPHS:
        raise ShiftlakeError(
            "Frost draws one of five photographs, and of a sixth that is published none.",
            expected="5 or 6 photographs",
            found=len(found),
            where="textures",
            remedy="Give the published photographs in the order of their numbers.",
        )
    return found
