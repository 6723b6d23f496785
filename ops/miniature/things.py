"""Silhouettes of made things and of places, as coloured outlines; no background, no nuisance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ops.miniature.geometry import (
    Colour,
    Part,
    arc,
    box,
    ellipse,
    polygon,
    regular,
    ribbon,
    star,
)

BLACK: Colour = (24, 24, 28)
WHITE: Colour = (246, 246, 244)


def airliner(hull: Colour, tail: Colour) -> list[Part]:
    """An airliner from the side, nose to the left, near wing swept down."""
    return [
        (polygon((0.5, -0.08), (0.8, -0.62), (0.98, -0.62), (0.86, 0.0)), tail),
        (polygon((0.0, -0.1), (0.38, -0.52), (0.5, -0.52), (0.3, -0.08)), (168, 176, 186)),
        (ellipse(0, 0, 0.96, 0.2), hull),
        (polygon((-0.2, 0.06), (0.32, 0.72), (0.5, 0.72), (0.25, 0.06)), (168, 176, 186)),
        (ellipse(0.08, 0.36, 0.16, 0.08), (110, 118, 130)),
        (box(-0.62, 0.08, 0.78, 0.13), tail),
        *[(ellipse(x, -0.04, 0.035, 0.045), (50, 80, 120)) for x in np.linspace(-0.6, 0.55, 9)],
    ]


def ball(skin: Colour, mark: Colour, *, tee: bool = False) -> list[Part]:
    """A ball with dimples, on a tee if asked."""
    parts: list[Part] = []
    if tee:
        parts.append(
            (polygon((-0.2, 0.62), (0.2, 0.62), (0.05, 0.98), (-0.05, 0.98)), (220, 60, 50))
        )
    parts.append((ellipse(0, -0.1, 0.78, 0.78), skin))
    for row, y in enumerate(np.linspace(-0.68, 0.48, 6)):
        half = np.sqrt(max(0.0, 0.7**2 - (y + 0.1) ** 2))
        for x in np.arange(-half, half + 0.01, 0.25) + 0.06 * (row % 2):
            parts.append((ellipse(float(x), float(y), 0.065, 0.065), mark))
    return parts


def football(skin: Colour, patch: Colour) -> list[Part]:
    """A ball of pentagon patches."""
    parts: list[Part] = [(ellipse(0, 0, 0.9, 0.9), skin), (regular(0, 0, 0.32, 5), patch)]
    for turn in range(5):
        angle = np.deg2rad(72 * turn - 54)
        x, y = 0.7 * np.cos(angle), 0.7 * np.sin(angle)
        parts.append((regular(float(x), float(y), 0.2, 5, 36), patch))
    return parts


def bus(paint: Colour, stripe: Colour) -> list[Part]:
    """A bus from the side with a row of windows."""
    return [
        (box(-0.95, -0.5, 0.7, 0.45), paint),
        (polygon((0.7, -0.05), (0.98, 0.05), (0.98, 0.45), (0.7, 0.45)), paint),
        *[(box(x, -0.38, x + 0.24, -0.02), (70, 96, 128)) for x in np.arange(-0.86, 0.5, 0.31)],
        (box(-0.95, 0.08, 0.98, 0.16), stripe),
        (box(-0.95, 0.25, 0.98, 0.3), stripe),
        *[(ellipse(x, 0.46, 0.2, 0.2), BLACK) for x in (-0.55, 0.5)],
        *[(ellipse(x, 0.46, 0.09, 0.09), (190, 190, 196)) for x in (-0.55, 0.5)],
    ]


def car(paint: Colour) -> list[Part]:
    """A car from the side."""
    return [
        (polygon((-0.5, 0.0), (-0.28, -0.4), (0.3, -0.4), (0.58, 0.0)), paint),
        (polygon((-0.36, -0.02), (-0.2, -0.3), (0.22, -0.3), (0.4, -0.02)), (150, 190, 216)),
        (box(-0.95, -0.02, 0.95, 0.35), paint),
        *[(ellipse(x, 0.36, 0.2, 0.2), BLACK) for x in (-0.52, 0.54)],
    ]


def submarine(hull: Colour) -> list[Part]:
    """A submarine: long hull, tower, periscope, screw and portholes."""
    return [
        (ribbon([(0.05, -0.4), (0.05, -0.85), (-0.2, -0.85)], 0.08), (80, 90, 90)),
        (polygon((-0.25, -0.15), (-0.18, -0.55), (0.28, -0.55), (0.34, -0.15)), hull),
        (polygon((0.8, 0.1), (0.98, -0.3), (0.98, 0.5)), (206, 160, 60)),
        (ellipse(-0.02, 0.1, 0.92, 0.34), hull),
        (arc(-0.02, 0.14, 0.88, 0.3, 10, 170), (150, 60, 54)),
        *[(ellipse(x, 0.02, 0.1, 0.1), (206, 160, 60)) for x in (-0.5, -0.1, 0.3)],
        *[(ellipse(x, 0.02, 0.06, 0.06), (170, 220, 236)) for x in (-0.5, -0.1, 0.3)],
    ]


def umbrella(one: Colour, other: Colour) -> list[Part]:
    """An open umbrella of coloured gores with a hooked handle."""
    gores: list[Part] = []
    edges = np.linspace(-0.95, 0.95, 7)
    for n, (left, right) in enumerate(pairwise(edges)):
        across = np.linspace(left, right, 6)
        roof = -0.75 * np.sqrt(np.clip(1 - (across / 0.96) ** 2, 0, 1))
        rim = 0.12 * np.sin(np.linspace(0, np.pi, 6)) * -1
        outline = np.concatenate(
            [np.stack([across, roof], axis=1), np.stack([across, rim], axis=1)[::-1]]
        )
        gores.append((outline, one if n % 2 == 0 else other))
    return [
        (ribbon([(0, -0.9), (0, 0.75)], 0.06), (96, 70, 50)),
        (ribbon([(0, 0.7), (0.08, 0.9), (0.22, 0.9), (0.28, 0.72)], 0.08), (96, 70, 50)),
        *gores,
    ]


def clock(face: Colour, rim: Colour) -> list[Part]:
    """A wall clock at ten past ten."""
    ticks = np.deg2rad(np.arange(0, 360, 30))
    return [
        (ellipse(0, 0, 0.92, 0.92), rim),
        (ellipse(0, 0, 0.74, 0.74), face),
        *[(ellipse(0.62 * np.cos(a), 0.62 * np.sin(a), 0.05, 0.05), BLACK) for a in ticks],
        (ribbon([(0, 0), (-0.3, -0.26)], 0.1), BLACK),
        (ribbon([(0, 0), (0.46, -0.32)], 0.07), BLACK),
    ]


def cup(glaze: Colour) -> list[Part]:
    """A cup with a handle and some steam."""
    return [
        (ellipse(0.55, 0.15, 0.36, 0.34), glaze),
        (ellipse(0.55, 0.15, 0.2, 0.18), (206, 206, 206)),
        (polygon((-0.7, -0.3), (0.5, -0.3), (0.36, 0.75), (-0.55, 0.75)), glaze),
        (ellipse(-0.1, -0.3, 0.6, 0.15), (96, 60, 40)),
        (ribbon([(-0.3, -0.5), (-0.22, -0.7), (-0.32, -0.95)], 0.07), WHITE),
        (ribbon([(0.1, -0.5), (0.18, -0.7), (0.08, -0.95)], 0.07), WHITE),
    ]


def rocket(hull: Colour, trim: Colour) -> list[Part]:
    """A rocket in flight."""
    return [
        (star(0, 0.72, 0.26, 0.16, 7), (250, 190, 60)),
        (polygon((-0.28, 0.2), (-0.62, 0.7), (-0.28, 0.6)), trim),
        (polygon((0.28, 0.2), (0.62, 0.7), (0.28, 0.6)), trim),
        (box(-0.28, -0.45, 0.28, 0.62), hull),
        (polygon((-0.28, -0.45), (0, -0.98), (0.28, -0.45)), trim),
        (ellipse(0, -0.15, 0.15, 0.15), (90, 160, 220)),
    ]


def conifer(leaf: Colour) -> list[Part]:
    """A conifer of three tiers."""
    tiers = ((-0.98, 0.42), (-0.6, 0.58), (-0.18, 0.74))
    return [
        (box(-0.11, 0.5, 0.11, 0.98), (110, 74, 46)),
        *[(polygon((0, y), (w, y + 0.72), (-w, y + 0.72)), leaf) for y, w in reversed(tiers)],
    ]


def stop_sign() -> list[Part]:
    """A red octagon on a post with a white bar."""
    return [
        (box(-0.06, 0.3, 0.06, 0.98), (150, 150, 154)),
        (regular(0, -0.25, 0.72, 8, 22.5), WHITE),
        (regular(0, -0.25, 0.64, 8, 22.5), (206, 34, 40)),
        (box(-0.42, -0.36, 0.42, -0.14), WHITE),
    ]


def beach() -> list[Part]:
    """Sky, sea, sand and a parasol."""
    return [
        (box(-1.6, -1.6, 1.6, -0.1), (150, 206, 240)),
        (ellipse(0.6, -0.65, 0.22, 0.22), (255, 236, 150)),
        (box(-1.6, -0.12, 1.6, 0.3), (50, 130, 190)),
        (box(-1.6, 0.28, 1.6, 1.6), (238, 214, 160)),
        (ribbon([(-0.4, 0.05), (-0.3, 0.8)], 0.05), (140, 100, 70)),
        (arc(-0.42, 0.1, 0.42, 0.36, 180, 360, 8), (226, 76, 70)),
    ]


def mountain() -> list[Part]:
    """Snow-capped peaks over a meadow."""
    return [
        (box(-1.6, -1.6, 1.6, 0.6), (176, 206, 236)),
        (polygon((-0.2, 0.6), (0.6, -0.5), (1.5, 0.6)), (112, 118, 140)),
        (polygon((-1.5, 0.6), (-0.3, -0.85), (0.8, 0.6)), (90, 96, 118)),
        (polygon((-0.62, -0.46), (-0.3, -0.85), (0.0, -0.45), (-0.3, -0.3)), WHITE),
        (box(-1.6, 0.55, 1.6, 1.6), (96, 150, 84)),
    ]


def church() -> list[Part]:
    """A church with a steeple and a cross."""
    return [
        (box(-1.6, -1.6, 1.6, 0.7), (198, 216, 232)),
        (box(-1.6, 0.68, 1.6, 1.6), (120, 160, 90)),
        (box(-0.2, -0.1, 0.85, 0.75), (232, 222, 204)),
        (polygon((-0.3, -0.08), (0.32, -0.5), (0.95, -0.08)), (160, 78, 60)),
        (box(-0.62, -0.4, -0.2, 0.75), (214, 202, 182)),
        (polygon((-0.68, -0.4), (-0.41, -0.9), (-0.14, -0.4)), (160, 78, 60)),
        (box(-0.44, -1.12, -0.38, -0.85), BLACK),
        (box(-0.52, -1.05, -0.3, -0.99), BLACK),
        (arc(0.35, 0.75, 0.16, 0.4, 180, 360), (90, 60, 44)),
        (arc(-0.41, 0.1, 0.1, 0.22, 180, 360), (80, 110, 150)),
    ]


def skyscraper() -> list[Part]:
    """Towers with lit windows at dusk."""
    towers = ((-0.85, -0.35, -0.35), (-0.3, -0.95, 0.25), (0.32, -0.6, 0.85))
    parts: list[Part] = [(box(-1.6, -1.6, 1.6, 1.6), (84, 84, 140))]
    for left, top, right in towers:
        parts.append((box(left, top, right, 1.6), (44, 50, 74)))
        for y in np.arange(top + 0.12, 0.95, 0.24):
            for x in np.arange(left + 0.08, right - 0.1, 0.17):
                parts.append((box(x, y, x + 0.08, y + 0.11), (250, 220, 130)))
    return parts


def forest() -> list[Part]:
    """A stand of round-crowned trees."""
    parts: list[Part] = [
        (box(-1.6, -1.6, 1.6, 0.5), (196, 222, 196)),
        (box(-1.6, 0.48, 1.6, 1.6), (92, 110, 60)),
    ]
    crowns = ((-0.85, (60, 120, 56)), (-0.3, (84, 146, 62)), (0.3, (52, 108, 62)))
    for x, leaf in (*crowns, (0.85, (96, 150, 70))):
        parts += [
            (box(x - 0.08, 0.0, x + 0.08, 0.85), (100, 72, 50)),
            (ellipse(x, -0.3, 0.38, 0.5), leaf),
        ]
    return parts


def desert() -> list[Part]:
    """Dunes under a hot sky."""
    return [
        (box(-1.6, -1.6, 1.6, 1.6), (250, 216, 170)),
        (ellipse(-0.5, -0.55, 0.26, 0.26), (255, 246, 214)),
        (arc(0.6, 0.4, 1.0, 0.5, 180, 360), (222, 160, 96)),
        (arc(-0.6, 0.6, 1.1, 0.5, 180, 360), (206, 140, 80)),
        (box(-1.6, 0.4, 1.6, 1.6), (190, 122, 70)),
    ]
