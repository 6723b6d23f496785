"""What to look at first: similarities of a whole batch turned into ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# The reason for which a reviewer would reject a pair, by the similarity that falls.
REASONS: dict[str, str] = {
    "displacement": "motion",
    "histogram": "background",
    "blur": "blur",
    "structure": "other",
}


def suspicion(similarities: dict[str, Floats]) -> tuple[Floats, list[str]]:
    """Rank every pair among all of its batch, for each reason, and take its worst rank.

    Ranks make the four comparable: nobody has calibrated the numbers themselves.

    Parameters
    ----------
    similarities : dict of str to float array, shape (n,)
        The keys of `REASONS`.

    Returns
    -------
    float array, shape (n,)
        In [0, 1]: the share of the other pairs that are less suspicious, 0 for the most similar.
    list of str
        The reason of the worst rank; the first in the order of `REASONS` where several are equal.
    """
    ranks = np.stack([_rank(similarities[name]) for name in REASONS])
    reasons = list(REASONS.values())
    return ranks.max(axis=0), [reasons[at] for at in ranks.argmax(axis=0)]


def _rank(similarity: Floats) -> Floats:
    """Share of the other pairs that are more similar; of equal pairs all have the lower rank."""
    n = len(similarity)
    if n < 2:
        return np.zeros(n)
    ascending = np.sort(similarity)
    more_similar = n - np.searchsorted(ascending, similarity, side="right")
    return more_similar / (n - 1)
