"""The images that the parity fixtures start from, made by integer arithmetic alone.

The same bytes on every machine and under every NumPy: no floating point, no random
generator, no codec. Only their hashes are stored.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Plane = NDArray[np.int64]

SIZE = 224
_CELLS = (128, 64, 32, 16, 8, 4, 2, 1)
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 1)


def _scatter(rows: Plane, columns: Plane, key: int) -> Plane:
    """One well mixed number in 0..65535 per lattice point."""
    mixed = rows.astype(np.uint64) << np.uint64(40)
    mixed ^= columns.astype(np.uint64) << np.uint64(16)
    mixed ^= np.uint64(key)
    for _ in range(2):
        mixed ^= mixed >> np.uint64(30)
        mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed = mixed * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(48)).astype(np.int64)


def _octave(height: int, width: int, cell: int, key: int) -> Plane:
    """Lattice noise in -32768..32767, bilinear between points ``cell`` pixels apart."""
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    top, left = rows // cell, columns // cell
    down, right = rows % cell, columns % cell
    key = 1000 * key + cell
    upper = _scatter(top, left, key) * (cell - right) + _scatter(top, left + 1, key) * right
    lower = _scatter(top + 1, left, key) * (cell - right) + _scatter(top + 1, left + 1, key) * right
    return (upper * (cell - down) + lower * down) // (cell * cell) - 32768


def _texture(height: int, width: int, key: int, weights: tuple[int, ...]) -> Plane:
    """Octaves from coarse to fine; falling weights give a spectrum like a photograph's."""
    total = np.zeros((height, width), np.int64)
    for cell, weight in zip(_CELLS, weights, strict=True):
        total += weight * _octave(height, width, cell, key)
    return total


def _stretch(values: Plane) -> Image:
    """To the full 0..255; the lowest and highest hundredth saturate."""
    ordered = np.sort(values, axis=None)
    low, high = ordered[ordered.size // 100], ordered[-(ordered.size // 100)]
    return (np.clip(values - low, 0, high - low) * 255 // (high - low)).astype(np.uint8)


def scene(height: int, width: int, key: int) -> Image:
    """Colourful smooth shapes with hard edges over a texture like a photograph's.

    Parameters
    ----------
    height, width
        Pixels.
    key
        Another key is another picture.
    """
    light = _texture(height, width, 10 * key, _WEIGHTS)
    colours = [
        light + _texture(height, width, 10 * key + channel, (9, 6, 3, 1, 0, 0, 0, 0))
        for channel in (1, 2, 3)
    ]
    picture = np.stack(colours, axis=-1)
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    side = min(height, width)
    shapes = (
        ((rows - side // 3) ** 2 + (columns - side // 4) ** 2 < (side // 6) ** 2, (4, -3, -5)),
        (4 * (rows - side * 2 // 3) ** 2 + (columns - side // 2) ** 2 < side**2 // 16, (-5, 2, 5)),
        (abs(rows + columns - side) < side // 24, (5, 5, -4)),
        ((rows > side * 3 // 5) & (columns > side * 7 // 10), (-4, 4, -4)),
    )
    for inside, shift in shapes:
        picture[inside] += 30000 * np.array(shift)
    return _stretch(picture)


def grey(key: int = 1) -> Image:
    """A grey picture: ImageMagick hands such a one back with a single channel."""
    light = _stretch(_texture(SIZE, SIZE, 10 * key, _WEIGHTS))
    return np.repeat(light[..., None], 3, axis=2)


def hard() -> Image:
    """Sixteen tiles where rounding, ties, clipping and division by zero live."""
    tile = SIZE // 4
    rows, columns = np.meshgrid(np.arange(tile), np.arange(tile), indexing="ij")
    ramp = (rows * tile + columns) * 255 // (tile * tile - 1)
    fall = 255 - ramp
    checker = (rows + columns) % 2
    primaries = np.array(
        [
            *[(255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 255, 255), (255, 0, 255), (255, 255, 0)],
            *[(255, 254, 255), (0, 1, 0)],
        ]
    )
    noise = [_scatter(rows, columns, key) >> 8 for key in (1, 2, 3)]

    def flat(*colour: int) -> Plane:
        return np.broadcast_to(np.array(colour), (tile, tile, 3))

    def three(red: Plane, green: Plane, blue: Plane) -> Plane:
        return np.stack([red, green, blue], axis=-1)

    tiles = [
        [flat(0, 0, 0), flat(255, 255, 255), flat(37, 142, 201), flat(128, 128, 128)],
        [
            primaries[columns // 7],
            three(ramp, ramp, ramp // 2),
            three(ramp // 3, ramp, ramp),
            three(fall, fall // 5, fall),
        ],
        [
            three(255 * checker, 255 * checker, 255 * checker),
            three(255 * checker, 255 - 255 * checker, 255 - 255 * checker),
            three(checker, 1 - checker, checker),
            three(255 * (columns % 2), 255 * (rows % 3 // 2), 255 * (rows // 2 % 2)),
        ],
        [
            three(ramp, fall, columns * 255 // (tile - 1)),
            three(rows % 4, columns % 4, (rows + columns) % 4),
            255 - three(rows % 4, columns % 4, (rows + columns) % 4),
            three(*noise),
        ],
    ]
    return np.concatenate([np.concatenate(row, axis=1) for row in tiles]).astype(np.uint8)


CORRUPTION_INPUTS: dict[str, Callable[[], Image]] = {
    "scene": lambda: scene(SIZE, SIZE, 0),
    "grey": grey,
    "hard": hard,
}
"""224x224x3: what every corruption starts from."""

SEQUENCE_INPUTS: dict[str, Callable[[], Image]] = {
    "wide": lambda: scene(256, 341, 2),
    "square": lambda: scene(256, 256, 3),
}
"""Shorter side 256, as after ImageNet-P's resize: what every sequence starts from."""
