"""How often a frame at a given distance from its anchor is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.pm_k_index import FrameSetIndex


@dataclass(frozen=True)
class OffsetErrors:
    """Wrong frames by offset.

    Attributes
    ----------
    offset : ndarray of int64, shape (D,)
        Ascending, from minus the reach to the reach.
    wrong, present : ndarray of int64, shape (D,)
        Wrong frames, out of the sets that have a frame there.
    wrong_given_right, present_given_right : ndarray of int64, shape (D,)
        The same, of the sets whose anchor is right.
    """

    offset: NDArray[np.int64]
    wrong: NDArray[np.int64]
    present: NDArray[np.int64]
    wrong_given_right: NDArray[np.int64]
    present_given_right: NDArray[np.int64]


def offset_errors(
    index: FrameSetIndex, correct: NDArray[np.bool_], reach: int = 10
) -> OffsetErrors:
    """Count wrong frames by offset.

    Parameters
    ----------
    index : FrameSetIndex
    correct : ndarray of bool
        By place in the arrays of scores.
    reach : int
        The largest distance that is counted.

    Notes
    -----
    Figure 5 of Shankar et al. takes sets whose anchor is right. Sets that have no frame at an
    offset, as at the ends of a video, are in no denominator there: 1,109 sets have 1,101 frames
    at -1 and 996 at +10.
    """
    near = index.distance <= reach
    place = index.offset[near] + reach
    wrong = ~correct[index.rows[near]]
    given = index.right_at_anchor(correct)[index.which[near]]
    size = 2 * reach + 1

    def count(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(place[mask], minlength=size)

    return OffsetErrors(
        np.arange(-reach, reach + 1),
        count(wrong),
        np.bincount(place, minlength=size),
        count(wrong & given),
        count(given),
    )
