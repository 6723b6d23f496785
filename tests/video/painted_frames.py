"""Frames that carry their own number as a code with parity, and the reading of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

BITS = 16
COLUMNS, ROWS = 6, 3  # sixteen bits, their parity and the opposite of that
WIDTH, HEIGHT = 160, 96
DARK, LIGHT = 16, 235


def paint(number: int, width: int = WIDTH, height: int = HEIGHT) -> Pixels:
    """Paint a frame: its number as a code in the upper half, something that moves below.

    Parameters
    ----------
    number : int
        0 to 65,535.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        In RGB.
    """
    across = np.arange(width)[None, :] + 3 * number
    down = np.arange(height)[:, None]
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[..., 0] = 128 + 60 * np.sin(across / 9.0) * np.cos(down / 7.0)
    pixels[..., 1] = 128 + 50 * np.sin((across + down) / 13.0)
    pixels[..., 2] = 128 + 40 * np.cos(down / 11.0 + number / 5.0)
    bits = [(number >> bit) & 1 for bit in range(BITS)]
    parity = sum(bits) % 2
    cells = np.array([*bits, parity, 1 - parity], np.uint8).reshape(ROWS, COLUMNS)
    tall, wide = _cell(width, height)
    code = np.where(cells == 1, LIGHT, DARK).astype(np.uint8)
    code = code.repeat(tall, axis=0).repeat(wide, axis=1)
    pixels[: code.shape[0], : code.shape[1]] = code[..., None]
    return pixels


def read_number(pixels: Pixels) -> int | None:
    """Read a painted number back.

    Returns
    -------
    int or None
        None where a cell is grey or the parity is wrong: the picture is no painted one, is
        damaged, or is a mixture of two.
    """
    height, width = pixels.shape[:2]
    tall, wide = _cell(width, height)
    grey = pixels.astype(np.float64).mean(axis=2)
    values = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            cell = grey[row * tall : (row + 1) * tall, column * wide : (column + 1) * wide]
            inner = cell[tall // 4 : tall - tall // 4, wide // 4 : wide - wide // 4].mean()
            if 90 < inner < 160:
                return None
            values.append(int(inner > 128))
    number = sum(bit << place for place, bit in enumerate(values[:BITS]))
    parity = sum(values[:BITS]) % 2
    return number if values[BITS:] == [parity, 1 - parity] else None


def _cell(width: int, height: int) -> tuple[int, int]:
    """Height and width of one cell of the code."""
    return height // (2 * ROWS), width // COLUMNS
