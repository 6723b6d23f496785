"""pm-k: an anchor counts only if every frame within k of it is right too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.pm_k_index import FrameSetIndex


def pm_k_correct(
    frame_set: NDArray[np.object_],
    frame_offset: NDArray[np.integer],
    correct: NDArray[np.bool_],
    k: int,
    *,
    anchor: bool = True,
) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    """Worst case of each anchor over the frames within `k` of it.

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
    anchor : bool
        Whether the anchor itself is one of the frames. Both public scorers say so, though the
        paper's Eq. (1) writes the neighbours alone.

    Returns
    -------
    anchors : ndarray of str, shape (A,)
        Sorted names of the frame sets.
    correct : ndarray of bool, shape (A,)
        An anchor with no neighbour within `k` stays, scored by itself alone.

    Raises
    ------
    ShiftlakeError
        If a frame set has no anchor or more than one, or two frames at one offset.

    Notes
    -----
    Shankar et al., arXiv:1906.02168. A frame that was expected and has no row is the caller's to
    refuse: it cannot be told from a frame that the set never had.

    Examples
    --------
    >>> sets, offsets = np.array(["a", "a", "b"]), np.array([0, 3, 0])
    >>> pm_k_correct(sets, offsets, np.array([True, False, True]), 10)[1].tolist()
    [False, True]
    """
    index = FrameSetIndex.of(frame_set, frame_offset)
    return index.anchors, pm_k_of(index, correct, k, anchor=anchor)


def pm_k_of(
    index: FrameSetIndex, correct: NDArray[np.bool_], k: int, *, anchor: bool = True
) -> NDArray[np.bool_]:
    """As :func:`pm_k_correct`, of frames already put in sets; shape (A,)."""
    whole = index.first_wrong(correct, anchor=anchor) > k
    if anchor:
        return whole
    return np.where(index.nearest_neighbour() <= k, whole, index.right_at_anchor(correct))


def pm_k_counts(
    index: FrameSetIndex, correct: NDArray[np.bool_], reach: int, *, anchor: bool = True
) -> NDArray[np.int64]:
    """How many anchors are right within k, for k = 0 to `reach`, in one pass.

    Returns
    -------
    ndarray of int64, shape (reach + 1,)
        Never rises with k where the anchor is in its own set. Without it pm-0 is the accuracy of
        the anchors all the same, for want of a neighbour.
    """
    if anchor:
        return _above(index.first_wrong(correct), reach)
    wrong, nearest = index.first_wrong(correct, anchor=False), index.nearest_neighbour()
    right = index.right_at_anchor(correct)
    # A neighbour within k and none of these wrong; or no neighbour within k, and the anchor right.
    return _above(wrong, reach) - _above(nearest, reach) + _above(nearest[right], reach)


def _above(distance: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """How many are above k, for k = 0 to `reach`."""
    near = np.bincount(distance[distance <= reach], minlength=reach + 1)
    return len(distance) - np.cumsum(near)
