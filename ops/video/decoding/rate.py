"""Frames a second, from the times of frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def frame_rate(
    seconds: npt.NDArray[np.float64], tick: float, told: Sequence[float] = ()
) -> tuple[float, bool]:
    """Measure the rate of frames.

    Parameters
    ----------
    seconds : float64 array, shape (frames,)
        Ascending.
    tick : float
        Seconds; times are whole numbers of ticks, so even spacing shows up to one.
    told : sequence of float
        What the header says: the first is taken with which the times agree, to a part in 500 and
        what rounding to ticks makes of it.

    Returns
    -------
    fps : float
        Of evenly spaced frames the mean rate; else that of the median distance. NaN where there
        are fewer than two frames and no header.
    variable : bool
        Whether frames are unevenly spaced: some distance is off by more than a tick and a
        hundredth.
    """
    if len(seconds) < 2:
        return (told[0] if told else float("nan")), False
    gaps = np.diff(seconds)
    gap, length = float(gaps.mean()), float(seconds[-1])
    variable = bool(np.abs(gaps - gap).max() > tick + 0.01 * gap)
    if variable:
        gap = length = float(np.median(gaps))
    slack = max(0.002, tick / length)
    return next((rate for rate in told if abs(gap * rate - 1) <= slack), 1 / gap), variable
