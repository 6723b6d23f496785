"""In which order a reviewer sees what there is to review: keyed, and never a film.

Pairs of one set in a row would be seen as a film, in which a change is more, or less, striking than
in two pictures; so pairs are shuffled, and two of one set do not follow each other where that can
be avoided.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

from ops.video.review.items import AnchorItem, PairItem

Order = Literal["suspicious", "random", "set"]

# One pair in so many is drawn whatever its suspicion, so that what the suspicion misses can be
# estimated.
RANDOM_SHARE = 10
# Pairs about as suspicious as each other are shuffled among themselves.
_BANDS = 20
# How far ahead to look for a pair of another set.
_AHEAD = 64


def is_random_draw(mined_version: str, sample_key: str) -> bool:
    """Whether a pair is in the keyed random sample; the same for every reviewer."""
    return _draw(mined_version, "sample", sample_key) % RANDOM_SHARE == 0


def anchor_order(
    anchors: Sequence[AnchorItem], mined_version: str, reviewer: str, order: Order
) -> list[str]:
    """Frame sets in the order in which a reviewer sees their anchors."""
    names = [item.frame_set for item in anchors]
    if order == "set":
        return names
    return sorted(names, key=lambda name: _draw(mined_version, reviewer, name))


def pair_order(
    pairs: Sequence[PairItem], mined_version: str, reviewer: str, order: Order
) -> list[str]:
    """Sample keys in the order in which a reviewer sees the pairs.

    Parameters
    ----------
    pairs : sequence of PairItem
    mined_version, reviewer : str
        What the order is keyed by.
    order : {"suspicious", "random", "set"}
        Bands of falling suspicion, shuffled within, with a random pair at every tenth place; all
        shuffled; or set by set along the video.
    """
    if order == "set":
        return [
            item.sample_key
            for item in sorted(pairs, key=lambda item: (item.frame_set, item.frame_offset))
        ]
    draws = {item.sample_key: _draw(mined_version, reviewer, item.sample_key) for item in pairs}
    shuffled = sorted(pairs, key=lambda item: draws[item.sample_key])
    if order == "suspicious":
        drawn = [item for item in shuffled if is_random_draw(mined_version, item.sample_key)]
        chosen = {item.sample_key for item in drawn}
        others = sorted(
            (item for item in pairs if item.sample_key not in chosen),
            key=lambda item: (-item.suspicion, item.sample_key),
        )
        size = max(1, -(-len(others) // _BANDS))
        banded = [
            item
            for start in range(0, len(others), size)
            for item in sorted(
                others[start : start + size], key=lambda item: draws[item.sample_key]
            )
        ]
        shuffled = _mixed(banded, drawn)
    return [item.sample_key for item in _apart(shuffled)]


def _mixed(many: list[PairItem], few: list[PairItem]) -> list[PairItem]:
    """One of the few after every nine of the many, and what is left at the end."""
    found: list[PairItem] = []
    at = 0
    for item in few:
        found += many[at : at + RANDOM_SHARE - 1]
        found.append(item)
        at += RANDOM_SHARE - 1
    return found + many[at:]


def _apart(items: list[PairItem]) -> list[PairItem]:
    """Bring a pair of another set forward where two of one set would follow each other."""
    found = list(items)
    for at in range(1, len(found)):
        last = found[at - 1].frame_set
        if found[at].frame_set != last:
            continue
        for ahead in range(at + 1, min(at + _AHEAD, len(found))):
            if found[ahead].frame_set != last:
                found.insert(at, found.pop(ahead))
                break
    return found


def _draw(*key: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(key).encode()).digest()[:8])
