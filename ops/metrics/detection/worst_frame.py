"""The frame of each set that a detector does worst on, and which of several equal ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError

# Average precisions that are equal as fractions may differ in the last bits of their sums.
DECIMALS = 9


@dataclass(frozen=True)
class SetFrames:
    """To which set every frame belongs, and how far it is from the anchor.

    Attributes
    ----------
    set : ndarray of int64, shape (F,)
        In [0, S): the position of the frame's set.
    offset : ndarray of int64, shape (F,)
        0 for the anchor, of which each set has one.
    """

    set: NDArray[np.int64]
    offset: NDArray[np.int64]

    def __post_init__(self) -> None:
        anchors = np.bincount(self.set[self.offset == 0], minlength=self.n_sets)
        bad = np.flatnonzero(anchors != 1)
        if bad.size:
            raise ShiftlakeError(
                "A frame set does not have one anchor.",
                expected="exactly one frame at offset 0",
                found=f"{anchors[bad[0]]} frames at offset 0",
                where=f"frame set {bad[0]:,}",
                remedy="rebuild the dataset and detect in it again",
            )

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return 1 + int(self.set.max(initial=-1))

    @property
    def anchors(self) -> NDArray[np.int64]:
        """Frame of every set's anchor, shape (S,)."""
        found = np.empty(self.n_sets, np.int64)
        own = np.flatnonzero(self.offset == 0)
        found[self.set[own]] = own
        return found


def worst_frames(frames: SetFrames, frame_ap: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Frame of the lowest average precision within `k` of each anchor.

    Parameters
    ----------
    frames : SetFrames
    frame_ap : ndarray of float64, shape (F,)
        NaN for a frame without a true box, which is never chosen over one that has some.
    k : int
        In steps of the offsets; 0 gives the anchors.

    Returns
    -------
    ndarray of int64, shape (S,)
        Of equal ones the nearest to the anchor, and of two at one distance the earlier. The anchor
        is among them, so a set in which nothing is worse keeps it; so does one without any box.
    """
    near = (np.abs(frames.offset) <= k) & ((frames.offset == 0) | ~np.isnan(frame_ap))
    some = np.flatnonzero(near)
    # NaN, which only an anchor without a box has here, sorts behind every number.
    value = np.round(frame_ap[some], DECIMALS)
    offset, own = frames.offset[some], frames.set[some]
    order = np.lexsort((offset, np.abs(offset), value, own))
    first = np.diff(own[order], prepend=-1) != 0
    return np.asarray(some[order][first])
