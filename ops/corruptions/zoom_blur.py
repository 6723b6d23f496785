"""Zoom blur: the mean of an image and of what ever stronger zooms into its middle show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.clipped_zoom import Axis, zoom_axis
from ops.corruptions.kernel import Image, Level
from ops.corruptions.lanes import LANES, add_weighted, interpolate

Factors = tuple[float, ...]
Places = npt.NDArray[np.int64]

_LEVELS = (np.arange(256) / 255.0).astype(np.float32)


class _Zooms(NamedTuple):
    """Several zooms of one size, and what takes part in which sum.

    Parameters
    ----------
    first, next : int64 array, shape (zooms, size)
        Source row above each row, and the one below.
    near, far : float array, shape (zooms, size)
        Weights of the two.
    near_along, far_along : float array, shape (zooms, size * 3 + LANES)
        The same weights for each sample along a row.
    bounds : int64 array, shape (zooms + 1,)
        Which runs belong to each zoom.
    at, source : int64 array, shape (runs,)
        Runs of `LANES` samples that lie alike in a zoomed row and in its source: where they
        start in the one and in the other. A run goes on over the start of the next.
    times : int64 array, shape (sums, zooms)
        How often a zoom is part of a sum: small images see two factors as one zoom.
    """

    first: Places
    next: Places
    near: npt.NDArray[Any]
    far: npt.NDArray[Any]
    near_along: npt.NDArray[Any]
    far_along: npt.NDArray[Any]
    bounds: Places
    at: Places
    source: Places
    times: Places


def exact(image: Image, level: Level) -> Image:
    """Interpolate in double precision, add up in single.

    Parameters
    ----------
    image : uint8 array, shape (size, size, 3)
        RGB.
    level : Level
        Parameters ``start``, ``stop`` and ``step`` of the zoom factors: those of
        ``numpy.arange``, whose rounding lets severity 1 have twelve, 1.11 among them.

    Returns
    -------
    uint8 array, shape (size, size, 3)
        The blurred image.
    """
    zooms = _zooms(image.shape[0], (zoom_factors(level.parameters),), "f8")
    out = np.empty_like(image)
    _sum_exact(image.reshape(len(image), -1), _LEVELS, zooms, out.reshape(len(image), -1))
    return out


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """In single precision, each zoom once for all severities that it is part of."""
    zooms = _zooms(image.shape[0], tuple(zoom_factors(level.parameters) for level in levels), "f4")
    out = np.empty((len(levels), *image.shape), np.uint8)
    rows = image.reshape(len(image), -1)
    _sum_fast(rows, _LEVELS, zooms, out.reshape(len(levels), *rows.shape))
    return list(out)


def zoom_factors(parameters: Mapping[str, Any]) -> Factors:
    """The zooms of a level by its parameters, weakest first."""
    factors = np.arange(parameters["start"], parameters["stop"], parameters["step"])
    return tuple(float(factor) for factor in factors)


@lru_cache(maxsize=64)
def _zooms(size: int, sums: tuple[Factors, ...], precision: str) -> _Zooms:
    """Lay out the zooms of several sums, weakest first; factors that crop alike are one zoom."""
    axes: dict[tuple[bytes, bytes], Axis] = {}
    for factor in sorted(factor for factors in sums for factor in factors):
        axis = zoom_axis(size, factor)
        axes.setdefault((axis.first.tobytes(), axis.far.tobytes()), axis)
    keys = list(axes)
    times = np.zeros((len(sums), len(keys)), np.int64)
    for row, factors in enumerate(sums):
        for factor in factors:
            axis = zoom_axis(size, factor)
            times[row, keys.index((axis.first.tobytes(), axis.far.tobytes()))] += 1
    bounds, at, source = [0], [], []
    for axis in axes.values():
        breaks = np.flatnonzero(np.diff(axis.first - np.arange(size))) + 1
        for begin, end in zip([0, *breaks.tolist()], [*breaks.tolist(), size], strict=True):
            for start in range(3 * begin, 3 * end, LANES):
                at.append(start)
                source.append(start + 3 * (int(axis.first[begin]) - begin))
        bounds.append(len(at))
    near = np.stack([axis.near for axis in axes.values()])
    far = np.stack([axis.far for axis in axes.values()])
    spare = ((0, 0), (0, LANES))
    return _Zooms(
        np.stack([axis.first for axis in axes.values()]),
        np.stack([axis.next for axis in axes.values()]),
        near.astype(precision),
        far.astype(precision),
        np.pad(np.repeat(near, 3, axis=1), spare).astype(precision),
        np.pad(np.repeat(far, 3, axis=1), spare).astype(precision),
        np.array(bounds),
        np.array(at),
        np.array(source),
        times,
    )


@compiled()
def _sum_exact(
    image: npt.NDArray[np.uint8],
    levels: npt.NDArray[np.float32],
    zooms: _Zooms,
    out: npt.NDArray[np.uint8],
) -> None:
    """Sum all zooms; SciPy adds the four neighbours in this order, row weights first."""
    height, n = image.shape
    light = np.empty((height, n), np.float32)
    for row in range(height):
        for i in range(n):
            light[row, i] = levels[image[row, i]]
    room = n + 2 * LANES
    upper, lower = np.zeros(room), np.zeros(room)
    nothing, half, whole = np.zeros(room), np.zeros(room), np.zeros(room)
    total = np.empty(n, np.float32)
    count = np.float32(np.sum(zooms.times) + 1)
    for row in range(height):
        total[:] = 0
        for zoom in range(len(zooms.first)):
            above, below = light[zooms.first[zoom, row]], light[zooms.next[zoom, row]]
            near, far = zooms.near[zoom, row], zooms.far[zoom, row]
            for i in range(n):
                upper[i] = above[i] * near
                lower[i] = below[i] * far
            left, right = zooms.near_along[zoom], zooms.far_along[zoom]
            begin, end = zooms.bounds[zoom], zooms.bounds[zoom + 1]
            for run in range(begin, end):
                at, source = zooms.at[run], zooms.source[run]
                add_weighted(half, at, nothing, upper, source, 3, left, right)
            for run in range(begin, end):
                at, source = zooms.at[run], zooms.source[run]
                add_weighted(whole, at, half, lower, source, 3, left, right)
            for _ in range(zooms.times[0, zoom]):
                for i in range(n):
                    total[i] += np.float32(whole[i])
        own, line = light[row], out[row]
        for i in range(n):
            line[i] = np.uint8((own[i] + total[i]) / count * np.float32(255))


@compiled()
def _sum_fast(
    image: npt.NDArray[np.uint8],
    levels: npt.NDArray[np.float32],
    zooms: _Zooms,
    out: npt.NDArray[np.uint8],
) -> None:
    """Make each zoom of a row and add it to its sums, in the order in which upstream adds.

    The differences that are weighted vanish where the image is flat, so that there every bit is
    upstream's: the mean is a whole grey level, and the last bit decides whether it is cut.
    """
    height, n = image.shape
    light = np.empty((height, n), np.float32)
    for row in range(height):
        for i in range(n):
            light[row, i] = levels[image[row, i]]
    mixed = np.zeros(n + 2 * LANES, np.float32)
    zoomed = np.zeros(n + 2 * LANES, np.float32)
    totals = np.empty((len(out), n), np.float32)
    for row in range(height):
        totals[:] = 0
        for zoom in range(len(zooms.first)):
            above, below = light[zooms.first[zoom, row]], light[zooms.next[zoom, row]]
            weight = zooms.far[zoom, row]
            for i in range(n):
                mixed[i] = above[i] + weight * (below[i] - above[i])
            along = zooms.far_along[zoom]
            for run in range(zooms.bounds[zoom], zooms.bounds[zoom + 1]):
                interpolate(zoomed, zooms.at[run], mixed, zooms.source[run], 3, along)
            for k in range(len(out)):
                total = totals[k]
                for _ in range(zooms.times[k, zoom]):
                    for i in range(n):
                        total[i] += zoomed[i]
        own = light[row]
        for k in range(len(out)):
            total, line = totals[k], out[k, row]
            count = np.float32(np.sum(zooms.times[k]) + 1)
            for i in range(n):
                line[i] = np.uint8((own[i] + total[i]) / count * np.float32(255))
