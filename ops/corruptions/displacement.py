"""Pixels fetched from where a displacement field points, as SciPy's ``map_coordinates`` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.four_lanes import weigh_four

Singles = npt.NDArray[np.float32]


def displace(image: Singles, across: Singles, down: Singles) -> npt.NDArray[np.uint8]:
    """Fetch each pixel from elsewhere, bilinearly; beyond its edges the image is mirrored.

    Parameters
    ----------
    image : float32 array, shape (height, width, 4)
        In [0, 1]; the fourth channel is not used.
    across, down : float32 array, shape (height, width)
        How far to the right and down of a pixel its value is fetched, in pixels.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        255 times ``map_coordinates(order=1, mode="reflect")`` of each channel, truncated: sums in
        double precision in SciPy's order, rounded to single.
    """
    height, width, _ = image.shape
    out = np.empty((height, width, 3), np.uint8)
    _displace(image.reshape(-1), across, down, out.reshape(height, -1))
    return out


@compiled()
def _displace(image: Singles, across: Singles, down: Singles, out: Any) -> None:
    height, width = across.shape
    stride = 4 * width
    last_column, last_row = np.float64(width - 1), np.float64(height - 1)
    inside = np.empty(width, np.bool_)
    corner = np.empty(width, np.int32)
    left, upper = np.empty(width), np.empty(width)
    line = np.empty(stride, np.float32)
    for row in range(height):
        to_right, to_below = across[row], down[row]
        for column in range(width):
            x = np.float64(column) + np.float64(to_right[column])
            y = np.float64(row) + np.float64(to_below[column])
            i, j = np.int32(x), np.int32(y)
            inside[column] = (x >= 0.0) & (x < last_column) & (y >= 0.0) & (y < last_row)
            corner[column] = j * width + i
            left[column] = 1.0 - (x - np.float64(i))
            upper[column] = 1.0 - (y - np.float64(j))
        for column in range(width):
            if inside[column]:
                start = 4 * np.int64(corner[column])
                starts = (start, start + 4, start + stride, start + stride + 4)
                near_x, near_y = left[column], upper[column]
            else:
                x_outside = column + np.float64(to_right[column])
                y_outside = row + np.float64(to_below[column])
                before, after, near_x = _between(x_outside, width)
                above, below, near_y = _between(y_outside, height)
                before, after, above, below = 4 * before, 4 * after, stride * above, stride * below
                starts = (above + before, above + after, below + before, below + after)
            far_x, far_y = 1.0 - near_x, 1.0 - near_y
            rows, columns = (near_y, near_y, far_y, far_y), (near_x, far_x, near_x, far_x)
            weigh_four(image, starts, rows, columns, line, 4 * column)
        samples = out[row]
        for column in range(width):
            for channel in range(3):
                value = min(line[4 * column + channel], np.float32(1.0))
                samples[3 * column + channel] = np.uint8(value * np.float32(255.0))


@compiled()
def _between(place: float, size: int) -> tuple[int, int, float]:
    """The samples before and after a place outside [0, size - 1], and the first one's weight."""
    period = 2.0 * size
    if place < 0.0:
        if place < -period:
            place = period * int(-place / period) + place
        place = place + period if place < -size else -place - 1.0
    elif place > size - 1:
        place -= period * int(place / period)
        if place >= size:
            place = period - place - 1.0
    before = int(np.floor(place))
    return _sample(before, size), _sample(before + 1, size), 1.0 - (place - before)


@compiled()
def _sample(index: int, size: int) -> int:
    index %= 2 * size
    return min(index, 2 * size - 1 - index)
