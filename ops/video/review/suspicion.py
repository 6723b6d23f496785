"""Whether the suspicion that orders the queue is worth anything: objections by its deciles.

What is suspicious comes early, so that an unfinished review says little about the rest. The pairs
that are drawn whatever their suspicion (:func:`ops.video.review.order.is_random_draw`) estimate
what the aid would miss.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ops.video.review.order import is_random_draw
from ops.video.review.reviewed import Reviewed

_BANDS = 10


class SuspicionBand(BaseModel):
    """Pairs of about one suspicion.

    Attributes
    ----------
    lowest, highest : float
        Suspicion in [0, 1].
    pairs : int
    judged, objected : int
        Those that somebody judged in the second pass, and those that not everybody called similar.
    drawn_judged, drawn_objected : int
        The same of the random draw alone.
    """

    model_config = ConfigDict(frozen=True)

    lowest: float
    highest: float
    pairs: int
    judged: int
    objected: int
    drawn_judged: int
    drawn_objected: int


def by_suspicion(review: Reviewed) -> tuple[SuspicionBand, ...]:
    """Objections by decile of suspicion, the most suspicious first; fewer bands of few pairs."""
    votes = review.decisions().votes
    ordered = sorted(review.pairs, key=lambda item: (-item.suspicion, item.sample_key))
    size = -(-len(ordered) // _BANDS)
    bands = []
    for start in range(0, len(ordered), size or 1):
        part = ordered[start : start + size]
        judged = {
            item.sample_key: any(vote.verdict != "similar" for vote in counting.values())
            for item in part
            if (counting := votes.counting("pair", item.sample_key))
        }
        drawn = [o for key, o in judged.items() if is_random_draw(review.mined_version, key)]
        band = SuspicionBand(
            lowest=part[-1].suspicion,
            highest=part[0].suspicion,
            pairs=len(part),
            judged=len(judged),
            objected=sum(judged.values()),
            drawn_judged=len(drawn),
            drawn_objected=sum(drawn),
        )
        bands.append(band)
    return tuple(bands)
