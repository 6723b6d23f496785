"""pm-k: an anchor counts only if every frame within k of it is right too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError


def pm_k_correct(
    frame_set: NDArray[np.object_],
    frame_offset: NDArray[np.integer],
    correct: NDArray[np.bool_],
    k: int,
) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Worst case of each anchor over the frames within `k` of it, the anchor included.

    Parameters
    ----------
    frame_set : ndarray of str, shape (N,)
        Names the anchor a frame belongs to.
    frame_offset : ndarray of int, shape (N,)
        Signed distance to the anchor in frames; the anchor itself has 0.
    correct : ndarray of bool, shape (N,)
        Any accepted label was predicted; an unreadable frame is wrong.
    k : int
        0 gives pm-0, the plain accuracy of the anchors.

    Returns
    -------
    anchors : ndarray of str, shape (A,)
        Sorted names of the frame sets.
    correct : ndarray of bool, shape (A,)
        An anchor with no neighbour stays, scored by itself alone.

    Raises
    ------
    ShiftlakeError
        If a frame set has no anchor, or more than one.

    Notes
    -----
    Both public scorers include the anchor, though the paper's Eq. (1) writes the neighbours
    alone (Shankar et al., arXiv:1906.02168).
    """
    anchors, which = np.unique(frame_set, return_inverse=True)
    found = np.bincount(which[frame_offset == 0], minlength=anchors.size)
    if (found != 1).any():
        bad = np.flatnonzero(found != 1)[0]
        raise ShiftlakeError(
            "A frame set does not have one anchor.",
            expected="exactly one frame at offset 0",
            found=f"{found[bad]} frames at offset 0",
            where=f"frame set {anchors[bad]}",
            remedy="rebuild the dataset and evaluate it again",
        )
    worst = np.ones(anchors.size, bool)
    near = np.abs(frame_offset.astype(np.int64)) <= k
    np.logical_and.at(worst, which[near], correct[near])
    return anchors, worst
