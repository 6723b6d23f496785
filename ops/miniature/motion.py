"""A thing that drifts, turns, blurs and is passed by another: frames of the video benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ops.miniature import encode
from ops.miniature.draw import Nuisance, photo, pose
from ops.miniature.geometry import Part, move, regular

STILL = Nuisance(side=(76, 92), scale=(0.66, 0.86), noise=8, blur=0.3)


def clip(
    parts: Sequence[Part], rng: np.random.Generator, offsets: Sequence[int], *, rough: bool
) -> dict[int, bytes]:
    """Render frames around an anchor.

    Parameters
    ----------
    parts : sequence of Part
        The thing that is seen.
    rng : numpy.random.Generator
        Stream of this clip.
    offsets : sequence of int
        Frames to render, counted from the anchor at 0.
    rough : bool
        Whether the camera shakes and something passes in front: such sets have an anchor that is
        easy and neighbours that are not.

    Returns
    -------
    dict of int to bytes
        Offset -> JPEG file.
    """
    start = pose(rng, STILL)
    start = replace(start, size=(start.size[0] // 2 * 2, start.size[1] // 2 * 2))
    speed = rng.uniform(-0.012, 0.012, 2) * (2.5 if rough else 1)
    spin = float(rng.uniform(-1.2, 1.2)) * (4 if rough else 1)
    growth = float(rng.uniform(-0.01, 0.01)) * (2 if rough else 1)
    shade = (int(rng.integers(40, 200)),) * 3
    frames = {}
    for offset in offsets:
        before: tuple[Part, ...] = ()
        if rough and offset > 0:
            before = ((regular(1.5 - 0.16 * offset, 0.1, 0.75, 6), shade),)
        seen = replace(
            start,
            x=start.x + float(speed[0]) * offset,
            y=start.y + float(speed[1]) * offset,
            scale=start.scale * (1 + growth * offset),
            turn=start.turn + spin * offset,
            blur=start.blur + (0.22 * max(0, -offset - 3) if rough else 0.0),
            before=before,
        )
        frames[offset] = encode.jpeg(photo(parts, seen, rng, STILL.noise), quality=90)
    return frames


def together(left: Sequence[Part], right: Sequence[Part]) -> list[Part]:
    """Return two things side by side, for frames with several labels."""
    return [*move(left, -0.5, 0.1, 0.55), *move(right, 0.5, -0.1, 0.55)]
