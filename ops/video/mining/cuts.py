"""Where one shot ends and another begins, among the frames of a set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ops.video.mining.similarity import Look, Similarity, compare

# Structure, with motion taken back, that no frames of two shots have in common.
_STRUCTURE = 0.75
# A cut is one step: structure holds this much better before it and behind it. A fast pan is many.
_STEP = 0.2
# A picture that goes out of focus loses its structure, but neither moves nor changes its colours.
_MOVED, _COLOURED = 0.93, 0.5
# A flash is over after so many frames, and what was before it comes back.
_FLASH = 2


def cuts(looks: Sequence[Look]) -> list[int]:
    """Find scene cuts.

    Parameters
    ----------
    looks : sequence of Look
        Frames in the order of presentation.

    Returns
    -------
    list of int
        Places of the first frames of new shots, ascending.
    """

    @cache
    def between(first: int, second: int) -> Similarity:
        return compare(looks[first], looks[second])

    def is_cut(at: int) -> bool:
        step = between(at - 1, at)
        if step.structure >= _STRUCTURE:
            return False
        if step.displacement >= _MOVED and step.histogram >= _COLOURED:
            return False
        beside = [other for other in (at - 1, at + 1) if 1 <= other < len(looks)]
        if any(between(other - 1, other).structure < step.structure + _STEP for other in beside):
            return False
        return all(
            between(at - 1 - before, at + after).structure < _STRUCTURE
            for before in range(_FLASH + 1)
            for after in range(_FLASH + 1 - before)
            if at - 1 - before >= 0 and at + after < len(looks)
        )

    return [at for at in range(1, len(looks)) if is_cut(at)]
