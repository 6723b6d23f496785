"""Cloud maps by the diamond-square algorithm on a torus, in either precision.

Fournier, Fussell and Carpenter, "Computer rendering of stochastic models" (CACM 1982). A map
starts as one height, 0. Each step halves the spacing: first the centre of every square, then the
middle of every edge becomes the mean of its four neighbours plus noise. The official code draws
that noise as ``w * uniform(-w, w)``, an amplitude of w squared, and divides w by the decay after
each step; its additions are kept in their order here.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled

_Floating = TypeVar("_Floating", np.float32, np.float64)

FIRST_AMPLITUDE = 100.0


def heights(uniform: npt.NDArray[_Floating], size: int, decay: float) -> npt.NDArray[_Floating]:
    """A map of heights.

    Parameters
    ----------
    uniform : float32 or float64 array, shape (size * size - 1,)
        Uniform numbers of [0, 1). For each step in turn: those of the centres, of the edges that
        run along a row, of the edges that run along a column, each from the top left.
    size : int
        Side of the map, a power of two.
    decay : float
        What the amplitude is divided by after each step.

    Returns
    -------
    float array, shape (size, size)
        Heights in the precision of the numbers, of no particular range.
    """
    steps = size.bit_length() - 1
    amplitudes = [FIRST_AMPLITUDE]
    while len(amplitudes) < steps:
        amplitudes.append(amplitudes[-1] / decay)
    kind = uniform.dtype
    coarse, fine = np.zeros((size, size), kind), np.empty((size, size), kind)
    centres, sums = np.empty((size // 2, size // 2), kind), np.empty(size // 2 + 1, kind)
    first = 0
    for step, amplitude in enumerate(amplitudes):
        n = 1 << step
        count = n * n
        squares, rows, columns = (
            uniform[first + i * count : first + (i + 1) * count].reshape(n, n) for i in range(3)
        )
        first += 3 * count
        numbers = np.array([0.25, -amplitude, 2 * amplitude, amplitude], kind)
        _refine(
            _square(coarse, n),
            _square(fine, 2 * n),
            _square(centres, n),
            *(sums, squares, rows, columns, numbers),
        )
        coarse, fine = fine, coarse
    return coarse


def _square(buffer: npt.NDArray[_Floating], side: int) -> npt.NDArray[_Floating]:
    """The start of a buffer as a smaller map."""
    return buffer.reshape(-1)[: side * side].reshape(side, side)


@compiled()
def _refine(
    coarse: npt.NDArray[_Floating],
    fine: npt.NDArray[_Floating],
    centres: npt.NDArray[_Floating],
    sums: npt.NDArray[_Floating],
    in_squares: npt.NDArray[_Floating],
    on_rows: npt.NDArray[_Floating],
    on_columns: npt.NDArray[_Floating],
    numbers: npt.NDArray[_Floating],
) -> None:
    """One step: ``coarse`` (n, n) to ``fine`` (2n, 2n), through ``centres`` (n, n)."""
    quarter, low, span, amplitude = numbers
    n = len(coarse)
    for i in range(n):
        here, below = coarse[i], coarse[i + 1 if i + 1 < n else 0]
        for j in range(n):
            sums[j] = here[j] + below[j]
        sums[n] = sums[0]
        noise, centre = in_squares[i], centres[i]
        for j in range(n):
            centre[j] = (sums[j] + sums[j + 1]) * quarter + amplitude * (low + span * noise[j])
    for i in range(n):
        here, below = coarse[i], coarse[i + 1 if i + 1 < n else 0]
        centre, above = centres[i], centres[i - 1]
        noise, even = on_rows[i], fine[2 * i]
        for j in range(n):
            sums[j] = here[j]
        sums[n] = here[0]
        for j in range(n):
            edge = (centre[j] + above[j]) + (sums[j] + sums[j + 1])
            even[2 * j] = sums[j]
            even[2 * j + 1] = edge * quarter + amplitude * (low + span * noise[j])
        noise, odd = on_columns[i], fine[2 * i + 1]
        for j in range(n):
            sums[j + 1] = centre[j]
        sums[0] = centre[n - 1]
        for j in range(n):
            edge = (sums[j + 1] + sums[j]) + (here[j] + below[j])
            odd[2 * j] = edge * quarter + amplitude * (low + span * noise[j])
            odd[2 * j + 1] = sums[j + 1]
