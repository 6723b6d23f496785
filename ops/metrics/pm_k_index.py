"""Which frame belongs to which anchor: worked out once, for every model that saw the frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError

# Farther than any frame: no frame of the set is wrong.
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class FrameSetIndex:
    """Frames in sets, one anchor each.

    Attributes
    ----------
    anchors : ndarray of str, shape (A,)
        Sorted names of the frame sets.
    rows : ndarray of int, shape (N,)
        The frames, set by set and from the anchor outwards, as places in the arrays of scores;
        an index over some of the frames names these alone.
    which : ndarray of int, shape (N,)
        The set of each of `rows`, ascending.
    offset : ndarray of int, shape (N,)
        Signed distance of each of `rows` to its anchor, in frames.
    starts : ndarray of int, shape (A,)
        Where each set begins in `rows`: its anchor.
    """

    anchors: NDArray[np.str_]
    rows: NDArray[np.intp]
    which: NDArray[np.intp]
    offset: NDArray[np.int64]
    starts: NDArray[np.intp]

    @classmethod
    def of(
        cls, frame_set: NDArray[np.object_] | NDArray[np.str_], frame_offset: NDArray[np.integer]
    ) -> FrameSetIndex:
        """Put frames in sets.

        Parameters
        ----------
        frame_set : ndarray of str, shape (N,)
            Names the anchor a frame belongs to.
        frame_offset : ndarray of int, shape (N,)
            Signed distance to the anchor in frames; the anchor itself has 0.

        Raises
        ------
        ShiftlakeError
            If a frame set has no anchor or more than one, or two frames at one offset.
        """
        anchors, which = np.unique(np.asarray(frame_set, np.str_), return_inverse=True)
        offset = np.asarray(frame_offset).astype(np.int64)
        # From the anchor outwards, of two equally far the earlier first: the order of all ties.
        rows = np.lexsort((offset, np.abs(offset), which))
        which, offset = which[rows], offset[rows]
        starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]])[: len(anchors)]
        missing = offset[starts] != 0
        twice = (which[1:] == which[:-1]) & (offset[1:] == offset[:-1])
        if missing.any() or twice.any():
            at = starts[missing][0] if missing.any() else np.flatnonzero(twice)[0]
            found = 2 if twice.any() and not missing.any() else 0
            raise _wrong_set(str(anchors[which[at]]), found, 0 if missing.any() else offset[at])
        return cls(anchors, rows, which, offset, starts)

    @property
    def distance(self) -> NDArray[np.int64]:
        """Frames between each of `rows` and its anchor, shape (N,)."""
        return np.abs(self.offset)

    @property
    def n(self) -> int:
        """Number of sets."""
        return len(self.anchors)

    @property
    def reach(self) -> int:
        """The largest distance of any frame; 0 where there is none."""
        return int(self.distance.max(initial=0))

    def keep(self, kept: NDArray[np.bool_]) -> FrameSetIndex:
        """The index over some of the frames; with its anchor a whole set falls.

        Parameters
        ----------
        kept : ndarray of bool
            By place in the arrays of scores.
        """
        mask = kept[self.rows] & kept[self.rows[self.starts]][self.which]
        sets = mask[self.starts]
        place = np.cumsum(sets) - 1
        starts = (np.cumsum(mask) - 1)[self.starts[sets]]
        return FrameSetIndex(
            self.anchors[sets],
            self.rows[mask],
            place[self.which[mask]],
            self.offset[mask],
            starts.astype(np.intp),
        )

    def right_at_anchor(self, correct: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each anchor is right, shape (A,)."""
        return correct[self.rows[self.starts]]

    def first_wrong(self, correct: NDArray[np.bool_], *, anchor: bool = True) -> NDArray[np.int64]:
        """Distance of the nearest wrong frame of each set.

        Parameters
        ----------
        correct : ndarray of bool
            By place in the arrays of scores; a frame that could not be read is wrong.
        anchor : bool
            Whether the anchor is one of them; without it, of the neighbours alone.

        Returns
        -------
        ndarray of int64, shape (A,)
            `NEVER` where none is wrong. A set is right within k if this is above k.
        """
        distance = self.distance
        passed = correct[self.rows]
        if not anchor:
            passed = passed | (distance == 0)
        if not self.n:
            return np.empty(0, np.int64)
        return np.minimum.reduceat(np.where(passed, NEVER, distance), self.starts)

    def nearest_neighbour(self) -> NDArray[np.int64]:
        """Distance of the nearest neighbour of each anchor, `NEVER` where it has none."""
        nearest = np.full(self.n, NEVER)
        sizes = np.diff(np.r_[self.starts, len(self.rows)])
        nearest[sizes > 1] = self.distance[self.starts[sizes > 1] + 1]
        return nearest


def _wrong_set(name: str, found: int, offset: int) -> ShiftlakeError:
    return ShiftlakeError(
        "A frame set does not have one anchor."
        if offset == 0
        else "A frame set has two frames at one place.",
        expected=f"exactly one frame at offset {offset}",
        found=f"{found} frames at offset {offset}",
        where=f"frame set {name}",
        remedy="rebuild the dataset and evaluate it again",
    )
