"""Things that move before a camera, frame by frame, with the truth about every frame.

What belongs here is what happens in a shot; which shots make which video is told by the trees of
videos that are filmed with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ops.miniature.classes import LOOKS
from ops.miniature.draw import Nuisance, Pose, extent, photo, pose
from ops.miniature.geometry import Part, box, move
from ops.miniature.keyed import generator

SIDE = 96
CAMERA = Nuisance(scale=(0.7, 0.84), turn=8, shift=0.03, noise=5, blur=0.3, clutter=3)
# Less of a thing than this share of its box, and nobody would say that it is in the picture.
_IN_VIEW = 0.35
_HIDDEN = 0.15


@dataclass(frozen=True)
class Thing:
    """One thing of a shot.

    Attributes
    ----------
    label : int
        In the label space of the videos.
    look : int
        ILSVRC index of what it looks like.
    x, y, scale : float
        Place and size beside other things; alone it fills the picture.
    frames : range or None
        When it is there; None for the whole shot.
    """

    label: int
    look: int
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0
    frames: range | None = None


@dataclass(frozen=True)
class Shot:
    """What happens between two cuts.

    Attributes
    ----------
    things : tuple of Thing
    frames : int
    speed : tuple of float
        Of all things, in shares of the picture a frame.
    turn : float
        Degrees a frame.
    growth : float
        Of their size, as a share a frame.
    shake : float
        Of the camera, as a share of the picture.
    blurred : range
        Frames out of focus, most in the middle.
    passing : range
        Frames in which a post passes in front, from the right to the left.
    """

    things: tuple[Thing, ...]
    frames: int
    speed: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0
    growth: float = 0.0
    shake: float = 0.0
    blurred: range = range(0)
    passing: range = range(0)


@dataclass(frozen=True)
class Seen:
    """One thing in one frame; its box is in pixels and cut to the picture."""

    label: int
    box: tuple[float, float, float, float]
    track: int
    occluded: bool


@dataclass(frozen=True)
class Film:
    """Frames, what is seen in each of them, and which of them are out of focus.

    Attributes
    ----------
    frames : list of uint8 array, shape (SIDE, SIDE, 3)
        In RGB.
    seen : list of tuple of Seen
    blurred : frozenset of int
    cuts : tuple of int
        First frames of all shots but the first.
    """

    frames: list[NDArray[np.uint8]]
    seen: list[tuple[Seen, ...]]
    blurred: frozenset[int]
    cuts: tuple[int, ...]


def film(shots: Sequence[Shot], seed: int, *what: object) -> Film:
    """Film shots one after the other.

    Parameters
    ----------
    shots : sequence of Shot
    seed : int
        Key of all randomness, together with `what`, the name of the video.

    Returns
    -------
    Film
    """
    made = Film([], [], frozenset(), ())
    for number, shot in enumerate(shots):
        rng = generator(seed, "film", *what, number)
        first = len(made.frames)
        start = replace(pose(rng, CAMERA), size=(SIDE, SIDE))
        track = sum(len(before.things) for before in shots[:number])
        for at in range(shot.frames):
            where = _at(shot, start, at, rng)
            present = [
                (track + n, thing.label, move(LOOKS[thing.look], thing.x, thing.y, thing.scale))
                for n, thing in enumerate(shot.things)
                if thing.frames is None or at in thing.frames
            ]
            parts = [part for _, _, drawn in present for part in drawn]
            made.frames.append(np.asarray(photo(parts, where, rng, CAMERA.noise)))
            made.seen.append(
                tuple(
                    found
                    for n, label, drawn in present
                    if (found := _seen(n, label, drawn, where)) is not None
                )
            )
        made = replace(
            made,
            blurred=made.blurred | {first + at for at in shot.blurred},
            cuts=made.cuts + ((first,) if number else ()),
        )
    return made


def _at(shot: Shot, start: Pose, at: int, rng: np.random.Generator) -> Pose:
    """The pose `at` frames into a shot, in whose middle the things are in the middle."""
    step = at - shot.frames / 2
    # Drawn in every frame, so that what follows never depends on whether the camera shakes.
    jolt = rng.uniform(-1, 1, 2) * shot.shake
    soft = 0.0
    if at in shot.blurred:
        share = (at - shot.blurred.start + 1) / (len(shot.blurred) + 1)
        soft = 3.2 * (1 - abs(2 * share - 1))
    before: tuple[Part, ...] = ()
    if at in shot.passing:
        x = 1.5 - 3.0 * (at - shot.passing.start + 1) / (len(shot.passing) + 1)
        before = ((box(x - 0.5, -1.6, x + 0.5, 1.6), (92, 84, 74)),)
    return replace(
        start,
        x=start.x + shot.speed[0] * step + float(jolt[0]),
        y=start.y + shot.speed[1] * step + float(jolt[1]),
        scale=start.scale * max(0.2, 1 + shot.growth * step),
        turn=start.turn + shot.turn * step,
        blur=start.blur + soft,
        before=before,
    )


def _seen(track: int, label: int, parts: Sequence[Part], where: Pose) -> Seen | None:
    left, top, right, bottom = extent(parts, where)
    cut = max(left, 0.0), max(top, 0.0), min(right, float(SIDE)), min(bottom, float(SIDE))
    wide, high = max(0.0, cut[2] - cut[0]), max(0.0, cut[3] - cut[1])
    if wide * high < _IN_VIEW * (right - left) * (bottom - top):
        return None
    hidden = 0.0
    for points, _ in where.before:
        edges = (points[:, 0].min() + 1) * SIDE / 2, (points[:, 0].max() + 1) * SIDE / 2
        hidden += max(0.0, min(edges[1], cut[2]) - max(edges[0], cut[0])) / wide
    rounded = tuple(round(value, 2) for value in cut)
    return Seen(
        label, (rounded[0], rounded[1], rounded[2], rounded[3]), track, bool(hidden > _HIDDEN)
    )
