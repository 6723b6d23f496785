"""Some of the frames: by how a frame was coded, by time, by the rate of the video."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ops.metrics.pm_k_index import FrameSetIndex

PICTURE_TYPES = ("I", "P", "B")

# Ten frames at 30 a second.
THIRD = 1 / 3

# Containers round times, and 30 frames a second may be 29.97.
_ROUNDING = 0.005


class Rates(NamedTuple):
    """Frame rates that are looked at together, in whole frames a second, both ends included."""

    name: str
    lowest: float
    highest: float


FRAME_RATES = (
    Rates("up to 20 fps", 0, 20),
    Rates("24 to 25 fps", 24, 25),
    Rates("29 to 30 fps", 29, 30),
    Rates("50 fps and more", 50, np.inf),
)


def without_type(pict_type: NDArray[np.object_], dropped: str) -> NDArray[np.bool_]:
    """Frames that are not of a type; by :meth:`FrameSetIndex.keep` its anchors' sets fall too.

    Parameters
    ----------
    pict_type : ndarray of str, shape (N,)
        ``I``, ``P`` or ``B``; empty where it is not known.
    dropped : str

    Notes
    -----
    Table 5 of Shankar et al. was made so. Had only anchors been dropped, the counts of its three
    rows would add up to twice those of all frames.
    """
    kept: NDArray[np.bool_] = pict_type != dropped
    return kept


def every_nth(index: FrameSetIndex, n: int) -> FrameSetIndex:
    """The video as it would be at an nth of its frame rate, counted from the anchor."""
    kept = np.zeros(int(index.rows.max(initial=-1)) + 1, bool)
    kept[index.rows] = index.offset % n == 0
    return index.keep(kept)


def within_seconds(dt: NDArray[np.float64], seconds: float = THIRD) -> NDArray[np.bool_]:
    """Frames at most so many seconds from their anchor, whatever the frame rate.

    Parameters
    ----------
    dt : ndarray of float64, shape (N,)
        Seconds from the anchor, signed; of frames further away than were mined, nothing is known.
    seconds : float
        10 frames are 0.33 s at 30 frames a second, 0.40 s at 25 and 0.67 s at 15.
    """
    return np.abs(dt) <= seconds + _ROUNDING


def of_rate(fps: NDArray[np.float64], rates: Rates) -> NDArray[np.bool_]:
    """Frames of videos of these frame rates; NaN, where it is not known, is of none."""
    # 23.976 is 24, and 59.94 is 60.
    whole = np.rint(fps)
    return (whole >= rates.lowest) & (whole <= rates.highest)
