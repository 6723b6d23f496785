"""Frosted glass: pixels copied from near by, one after the other, between two gaussian blurs.

Keyed draws. A displacement ``(dx, dy)``, both in ``[-d, d)``, has the code ``(dy + d) * 2 * d +
dx + d``; there are ``q = (2 * d) ** 2`` codes. The n copies of an image, in the order in which
they are made, take theirs from the words of the purpose "shifts":

* where q divides 256 (d = 1, 2, 4), copy i takes byte i of the words, low byte first; its code is
  the byte modulo q;
* elsewhere word i gives ``pair = (word * q * q) >> 32``; with m = ceil(n / 2), the code of copy i
  is ``pair // q`` and that of copy m + i is ``pair % q``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.draws import Draws
from ops.corruptions.gaussian import blur_levels
from ops.corruptions.kernel import Image, Level
from ops.corruptions.keyed import Keyed

Codes = npt.NDArray[np.uint8]


def exact(image: Image, level: Level) -> Image:
    """Blur, copy pixels from near by, blur again.

    Upstream means to swap two pixels, but both are views of one array: the pixel that is visited
    takes the other's value, which stays where it is.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``sigma`` (of both blurs, in pixels), ``max_delta`` (d: a pixel comes from d
        above to d - 1 below, and alike sideways) and ``iterations``.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The image behind glass.
    """
    sigma, delta = level.parameters["sigma"], level.parameters["max_delta"]
    iterations = level.parameters["iterations"]
    height, width, _ = image.shape
    copies = iterations * (height - 2 * delta) * (width - 2 * delta)
    codes = displacement_codes(level.draws, delta, copies)
    # A pixel is one 32-bit word, so that it moves in one piece.
    pixels = cv2.cvtColor(blur_levels(image, sigma), cv2.COLOR_RGB2RGBA)
    words = pixels.reshape(height, 4 * width).view(np.uint32)
    _copy_pixels(words.reshape(-1), width, delta, iterations, codes, _steps(delta, width))
    return blur_levels(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGBA2RGB), np.uint8), sigma)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same: a last bit that differs before the copies would be spread by the second blur."""
    return [exact(image, level) for level in levels]


def displacement_codes(draws: Draws, delta: int, copies: int) -> Codes:
    """Draw where each copied pixel comes from.

    Parameters
    ----------
    draws : Draws
        Replayed (two integers for each copy, sideways first) or keyed (as told above).
    delta : int
        d, 1 to 8.
    copies : int
        How many.

    Returns
    -------
    uint8 array, shape (copies,)
        Codes, or numbers that are the code modulo q where q divides 256.
    """
    side = 2 * delta
    choices = side * side
    if not isinstance(draws, Keyed):
        shifts = draws.integers("shifts", -delta, delta, (copies, 2))
        codes = np.empty(copies, np.uint8)
        _encode(shifts, delta, codes)
        return codes
    if 256 % choices == 0:
        words = draws.words("shifts", -(-copies // 4))
        return words.astype("<u4", copy=False).view(np.uint8)[:copies]
    words = draws.words("shifts", -(-copies // 2))
    pairs = np.empty(2 * len(words), np.uint8)
    _split(words, choices, pairs)
    return pairs[:copies]


@lru_cache(maxsize=32)
def _steps(delta: int, width: int) -> npt.NDArray[np.int64]:
    """Pixels from a copied pixel to where it comes from, by the code's byte."""
    dy, dx = np.divmod(np.arange(256) % (4 * delta * delta), 2 * delta)
    steps: npt.NDArray[np.int64] = (dy - delta) * width + dx - delta
    return steps


@compiled()
def _encode(shifts: npt.NDArray[np.int64], delta: int, codes: Codes) -> None:
    for i in range(len(codes)):
        codes[i] = (shifts[i, 1] + delta) * 2 * delta + shifts[i, 0] + delta


@compiled()
def _split(words: npt.NDArray[np.uint32], choices: int, codes: Codes) -> None:
    """Take two codes from each word."""
    half = len(words)
    q = np.uint64(choices)
    for i in range(half):
        pair = np.uint32((np.uint64(words[i]) * q * q) >> np.uint64(32))
        first = pair // np.uint32(choices)
        codes[i] = first
        codes[half + i] = pair - first * np.uint32(choices)


@compiled()
def _copy_pixels(
    pixels: npt.NDArray[np.uint32],
    width: int,
    delta: int,
    iterations: int,
    codes: Codes,
    steps: npt.NDArray[np.int64],
) -> None:
    """Visit the pixels backwards, row by row; each sees what was copied before it."""
    copy = 0
    for _ in range(iterations):
        for row in range(len(pixels) // width - delta, delta, -1):
            for at in range(row * width + width - delta, row * width + delta, -1):
                pixels[np.uint64(at)] = pixels[np.uint64(at + steps[codes[copy]])]
                copy += 1
