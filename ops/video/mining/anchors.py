"""Which frames become anchors: a draw keyed by the video, and by nothing outside of it."""

from __future__ import annotations

import hashlib

from ops.video.clip import Clip
from ops.video.mining.config import MiningConfig
from ops.video.mining.seen import SeenFrames


def draw_anchors(source: str, clip: Clip, seen: SeenFrames, config: MiningConfig) -> list[int]:
    """Draw the anchors of a clip among the frames that show a wanted class.

    Neighbours play no part: to ask for twenty of them would keep anchors from the ends of a clip.
    The draw is keyed by seed, source and clip (and segment), so that other videos can come and go.

    Returns
    -------
    list of int
        Ascending, each once; empty where no frame can be an anchor.
    """
    if config.per == "segment":
        pools = [
            (f"{config.seed}/{source}/{clip.key}/{segment.key}", seen.eligible(at, config))
            for at, segment in enumerate(clip.segments)
        ]
        # In the order of their keys: which of two segments comes first in a file says nothing.
        pools.sort(key=lambda pool: pool[0])
    else:
        every = {frame for at in range(len(clip.segments)) for frame in seen.eligible(at, config)}
        pools = [(f"{config.seed}/{source}/{clip.key}", sorted(every))]
    taken: set[int] = set()
    for key, frames in pools:
        # One frame is the anchor of one set, also where two segments show it.
        left = [frame for frame in frames if frame not in taken]
        for number in range(min(config.anchors_per_video, len(left))):
            digest = hashlib.sha256(f"{key}/{number}".encode()).digest()
            # 256 bits over a few thousand frames: the remainder favours none.
            taken.add(left.pop(int.from_bytes(digest, "big") % len(left)))
    return sorted(taken)
