"""Convolution with a softened disk, by sums over the columns of pixels in it.

A disk is a row of columns, and the sum over a column is the difference of two sums that run down
the image: whole numbers, without rounding. A small gaussian over the disk's sums softens its edge.
What the published kernel has besides, at the rim of its grid, is added tap by tap.

Here: that decomposition of a kernel, and the sum. Not here: how the kernel is made
(:mod:`ops.corruptions.defocus_blur`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.gaussian import sum_pairs
from ops.corruptions.rounding import exp

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

# Of a tap's weight: less than this is rounding of the single-precision kernel.
_ROUNDING = 2e-7


class Disk(NamedTuple):
    """A convolution kernel as a disk, a gaussian and a rim; symmetric in both directions.

    Parameters
    ----------
    heights : int64 array, shape (heights,)
        Pixels above and below the middle of the disk's columns, each number once.
    columns : int64 array, shape (columns,)
        Index in ``heights`` of each column, from the middle outwards.
    down, along : float64 array, shape (reach + 1,)
        Gaussian over the disk's sums, its middle and one half, down the columns and along the
        rows; ``along`` also holds the division by the disk's area.
    rim_rows : int64 array, shape (rows,)
        Rows below the middle in which the rim has taps.
    rim_taps : int64 array, shape (taps, 2)
        Index in ``rim_rows`` and column right of the middle of each.
    rim_weights : float32 array, shape (taps,)
        Each for the four places mirrored in the middle row and column.
    """

    heights: Places
    columns: Places
    down: Doubles
    along: Doubles
    rim_rows: Places
    rim_taps: Places
    rim_weights: Floats

    @property
    def margin(self) -> int:
        """Pixels beyond an image's edge that it takes part of."""
        return len(self.columns) - 1 + len(self.down) - 1


class Frame(NamedTuple):
    """An image with its mirror image around it (d c b | a b c d), and its sums down the columns.

    Parameters
    ----------
    margin : int
        Pixels added on each side.
    levels : float32 array, shape (height + 2 * margin, (width + 2 * margin) * 3)
        Grey levels.
    sums : float32 array, shape (height + 2 * margin + 1, (width + 2 * margin) * 3)
        Of the levels above each row; whole numbers below 2**24.
    """

    margin: int
    levels: Floats
    sums: Floats


def framed(image: npt.NDArray[np.uint8], margin: int) -> Frame:
    """Prepare an image, uint8 of shape (height, width, 3), for disks of at most this margin."""
    border = cv2.copyMakeBorder(image, margin, margin, margin, margin, cv2.BORDER_REFLECT_101)
    levels = border.reshape(len(border), -1).astype(np.float32)
    sums = np.empty((len(levels) + 1, levels.shape[1]), np.float32)
    _run_down(levels, sums)
    return Frame(margin, levels, sums)


def split_disk(kernel: Floats, radius: float, sigma: float, side: int) -> Disk:
    """Take a kernel apart.

    Parameters
    ----------
    kernel : float32 array, shape (n, n)
        Roughly a disk's mean softened by a gaussian; symmetric.
    radius : float
        Of the disk, in pixels.
    sigma, side : float, int
        Standard deviation and width of the gaussian, in pixels.

    Returns
    -------
    Disk
        Whose parts add up to the kernel within 1e-7 of the weight of a pixel of the disk.
    """
    reach, middle = side // 2, len(kernel) // 2
    gaussian = sampled_gaussian(side, sigma)
    while reach and gaussian[reach] < 1e-12:
        reach -= 1
    half = gaussian[: reach + 1]
    offsets = np.arange(-middle - reach, middle + reach + 1)
    inside = (offsets**2 + offsets[:, None] ** 2 <= radius**2).astype(np.float64)
    area = inside.sum()
    soft = softened(np.pad(inside / area, side // 2), gaussian)
    rest = np.pad(kernel.astype(np.float64), reach) - soft
    rim = np.where(np.abs(rest) > _ROUNDING / area, rest, 0.0)
    # The sum decides what a flat image becomes: the rounding that is left out is spread over it.
    scale = (1.0 + (rest - rim).sum()) / area
    heights = [
        math.isqrt(int(radius**2 - column**2)) for column in range(middle + 1) if column <= radius
    ]
    quarter = rim[middle + reach :, middle + reach :]
    taps = np.argwhere(quarter)
    rows, which = np.unique(taps[:, 0], return_inverse=True)
    weights = quarter[taps[:, 0], taps[:, 1]]
    # A tap on an axis is its own mirror image.
    weights = weights * 0.5 ** (taps == 0).sum(axis=1)
    distinct, columns = np.unique(np.array(heights, np.int64), return_inverse=True)
    return Disk(
        distinct,
        columns,
        half,
        half * scale,
        rows.astype(np.int64),
        np.column_stack((which, taps[:, 1])).astype(np.int64),
        weights.astype(np.float32),
    )


def sampled_gaussian(side: int, sigma: float) -> Doubles:
    """Weights of a gaussian of sum 1 over ``side`` samples, an odd number.

    Returns
    -------
    float64 array, shape (side // 2 + 1,)
        From the middle outwards; the same on every processor.
    """
    heights = [exp(-0.5 / (sigma * sigma) * (at * at)) for at in range(side // 2 + 1)]
    total = math.fsum([heights[0], *heights[1:], *heights[1:]])
    return np.array([height / total for height in heights])


def softened(field: Doubles, half: Doubles) -> Doubles:
    """Weigh a field along both axes, float64 of shape (n, n), smaller by the gaussian's reach.

    Sample by sample: filters of libraries add in an order that depends on the processor.
    """
    reach = len(half) - 1
    for _ in range(2):
        size = len(field) - 2 * reach
        total = half[0] * field[reach : reach + size]
        for at in range(1, reach + 1):
            before, after = (field[reach + side : reach + side + size] for side in (-at, at))
            total += half[at] * (before + after)
        field = total.T
    return field


class _Pairs(NamedTuple):
    """Arguments of :func:`ops.corruptions.gaussian.sum_pairs`."""

    lower: npt.NDArray[np.uint64]
    upper: npt.NDArray[np.uint64]
    weights: npt.NDArray[Any]


class Layout(NamedTuple):
    """Where the parts of a disk lie in the rows of a frame; the words are those of `Disk`."""

    reach: int
    heights: Places
    middle: Any
    columns: _Pairs
    down: Doubles
    along: _Pairs
    rim_rows: Places
    rim: _Pairs


def lay_out(disk: Disk, width: int, margin: int) -> Layout:
    """Lay a disk over frames of images of this width; the margin is at least the disk's."""
    reach = len(disk.down) - 1
    stride = 3 * (width + 2 * margin)
    beside = 3 * np.arange(1, len(disk.columns))
    start = disk.columns * stride + 3 * (margin - reach)
    steps = 3 * np.arange(1, reach + 1)
    places, aside = disk.rim_taps[:, 0] * stride + 3 * margin, 3 * disk.rim_taps[:, 1]
    ones = np.ones(len(start), np.float32)
    return Layout(
        reach,
        disk.heights,
        np.uint64(start[0]),
        _pairs(start[1:] - beside, start[1:] + beside, ones),
        np.append(disk.down, np.zeros(-reach % 4)),
        _pairs(3 * reach - steps, 3 * reach + steps, disk.along),
        disk.rim_rows,
        _pairs(places - aside, places + aside, np.append(np.float32(0), disk.rim_weights)),
    )


def _pairs(lower: Places, upper: Places, weights: npt.NDArray[Any]) -> _Pairs:
    """Fill pairs up with such of no weight."""
    spare = -len(lower) % 4
    return _Pairs(
        np.append(lower, np.zeros(spare, np.int64)).astype(np.uint64),
        np.append(upper, np.zeros(spare, np.int64)).astype(np.uint64),
        np.append(weights, np.zeros(spare, weights.dtype)),
    )


def disk_blur(frame: Frame, layout: Layout) -> npt.NDArray[np.uint8]:
    """Convolve.

    Parameters
    ----------
    frame : Frame
        Of the image.
    layout : Layout
        Of the disk, for the frame's width and margin.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The sum, at most 255, its fraction cut off.
    """
    inset = 2 * frame.margin
    height, width = len(frame.levels) - inset, frame.levels.shape[1] // 3 - inset
    out = np.empty((height, width, 3), np.uint8)
    _convolve(frame, layout, out.reshape(height, -1))
    return out


@compiled()
def _run_down(levels: Floats, sums: Floats) -> None:
    sums[0] = 0
    for row in range(len(levels)):
        above, line, below = sums[row], levels[row], sums[row + 1]
        for i in range(len(line)):
            below[i] = above[i] + line[i]


@compiled()
def _convolve(frame: Frame, layout: Layout, out: npt.NDArray[np.uint8]) -> None:
    """Go down the rows: columns, disks, gaussian, rim."""
    levels, sums, margin = frame.levels, frame.sums, frame.margin
    n, stride = out.shape[1], levels.shape[1]
    reach, heights, rim_rows = layout.reach, layout.heights, layout.rim_rows
    columns, along, rim = layout.columns, layout.along, layout.rim
    above_row = np.zeros(len(layout.down) - 1, np.uint64)
    below_row = np.zeros(len(layout.down) - 1, np.uint64)
    slots, wide = 2 * reach + 1, n + 6 * reach
    runs = np.empty(len(heights) * stride, np.float32)
    disks = np.empty(slots * wide, np.float32)
    line = np.empty(wide, np.float64)
    total = np.empty(n, np.float64)
    mirrored = np.empty(len(rim_rows) * stride, np.float32)
    extra = np.zeros(n, np.float32)
    for ahead in range(-reach, len(out) + reach):
        for k in range(len(heights)):
            run = runs[k * stride : (k + 1) * stride]
            bottom = sums[ahead + margin + heights[k] + 1]
            top = sums[ahead + margin - heights[k]]
            for i in range(stride):
                run[i] = bottom[i] - top[i]
        slot = (ahead + reach) % slots * wide
        inside = disks[slot : slot + wide]
        sum_pairs(runs, layout.middle, columns.lower, columns.upper, columns.weights, inside)
        row = ahead - reach
        if row < 0:
            continue
        for k in range(reach):
            above_row[k] = (row + reach - k - 1) % slots * wide
            below_row[k] = (row + reach + k + 1) % slots * wide
        centre = np.uint64((row + reach) % slots * wide)
        sum_pairs(disks, centre, above_row, below_row, layout.down, line)
        sum_pairs(line, np.uint64(3 * reach), along.lower, along.upper, along.weights, total)
        if len(rim_rows):
            for k in range(len(rim_rows)):
                both = mirrored[k * stride : (k + 1) * stride]
                above = levels[row + margin - rim_rows[k]]
                below = levels[row + margin + rim_rows[k]]
                for i in range(stride):
                    both[i] = above[i] + below[i]
            sum_pairs(mirrored, np.uint64(0), rim.lower, rim.upper, rim.weights, extra)
        pixels = out[row]
        for i in range(n):
            pixels[i] = min(total[i] + extra[i], 255.0)
