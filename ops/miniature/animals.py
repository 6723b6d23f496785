"""Silhouettes of living things, as coloured outlines; no background, no nuisance."""

from __future__ import annotations

import numpy as np

from ops.miniature.geometry import Colour, Part, arc, bands, box, ellipse, polygon, ribbon, star

BLACK: Colour = (24, 24, 28)
WHITE: Colour = (244, 244, 240)


def fish(body: Colour, fin: Colour) -> list[Part]:
    """A fish from the side, nose to the left."""
    return [
        (polygon((0.35, 0.0), (0.98, -0.55), (0.82, 0.0), (0.98, 0.55)), fin),
        (polygon((-0.25, -0.35), (0.1, -0.78), (0.4, -0.25)), fin),
        (polygon((-0.1, 0.35), (0.1, 0.72), (0.32, 0.25)), fin),
        (ellipse(-0.15, 0, 0.68, 0.45), body),
        (arc(-0.15, 0.05, 0.6, 0.36, 10, 170), fin),
        (ellipse(-0.55, -0.1, 0.1, 0.1), WHITE),
        (ellipse(-0.56, -0.1, 0.05, 0.05), BLACK),
    ]


def ostrich() -> list[Part]:
    """An ostrich: dark body, bare long neck and legs, white plumes."""
    skin: Colour = (226, 170, 150)
    return [
        (ribbon([(-0.05, 0.2), (-0.12, 0.6), (-0.05, 0.98)], 0.1, 0.06), skin),
        (ribbon([(0.2, 0.2), (0.26, 0.6), (0.2, 0.98)], 0.1, 0.06), skin),
        (ribbon([(-0.35, 0.05), (-0.5, -0.3), (-0.42, -0.75)], 0.14, 0.09), skin),
        (ellipse(0.62, -0.1, 0.3, 0.16, 30), WHITE),
        (ellipse(0.1, 0.05, 0.55, 0.33), (52, 44, 44)),
        (ellipse(0.25, 0.18, 0.28, 0.12, -15), WHITE),
        (ellipse(-0.44, -0.8, 0.15, 0.11), skin),
        (polygon((-0.55, -0.83), (-0.84, -0.74), (-0.55, -0.72)), (214, 130, 70)),
        (ellipse(-0.47, -0.83, 0.035, 0.035), BLACK),
    ]


def songbird(breast: Colour, wing: Colour, head: Colour) -> list[Part]:
    """A small round bird on thin legs, beak to the left."""
    return [
        (polygon((0.45, 0.05), (0.98, 0.22), (0.9, 0.42), (0.4, 0.3)), wing),
        (ribbon([(-0.1, 0.4), (-0.12, 0.85)], 0.06), (140, 90, 60)),
        (ribbon([(0.15, 0.4), (0.13, 0.85)], 0.06), (140, 90, 60)),
        (ellipse(0.05, 0.1, 0.58, 0.45, -12), WHITE),
        (ellipse(-0.22, 0.08, 0.36, 0.38), breast),
        (ellipse(0.25, 0.02, 0.42, 0.24, -20), wing),
        (ribbon([(0.0, -0.1), (0.5, 0.12)], 0.09), WHITE),
        (ellipse(-0.33, -0.4, 0.3, 0.28), head),
        (polygon((-0.6, -0.45), (-0.92, -0.33), (-0.58, -0.26)), (232, 190, 70)),
        (ellipse(-0.42, -0.46, 0.06, 0.06), WHITE),
        (ellipse(-0.43, -0.46, 0.035, 0.035), BLACK),
    ]


def swan(body: Colour) -> list[Part]:
    """A swan afloat: curved neck, red beak, a strip of water."""
    neck = [(-0.3, 0.3), (-0.58, 0.0), (-0.5, -0.35), (-0.35, -0.62), (-0.5, -0.82)]
    return [
        (arc(0.15, 0.3, 0.72, 0.6, 180, 360), body),
        (polygon((0.6, 0.0), (0.98, -0.4), (0.85, 0.3)), body),
        (arc(0.15, 0.3, 0.72, 0.32, 0, 180), body),
        (ribbon(neck, 0.26, 0.15), body),
        (ellipse(-0.52, -0.82, 0.16, 0.12), body),
        (polygon((-0.62, -0.88), (-0.95, -0.7), (-0.62, -0.74)), (222, 40, 40)),
        (ellipse(-0.55, -0.86, 0.03, 0.03), WHITE),
        (ellipse(0.25, 0.1, 0.36, 0.16, 15), (70, 68, 76)),
        (box(-0.98, 0.5, 0.98, 0.6), (96, 160, 210)),
        (box(-0.8, 0.68, 0.7, 0.76), (130, 190, 226)),
    ]


def lion(mane: Colour, face: Colour) -> list[Part]:
    """A lion's head seen from the front, inside its mane."""
    return [
        (star(0, 0, 0.98, 0.8, 14), mane),
        (ellipse(-0.48, -0.5, 0.18, 0.18), face),
        (ellipse(0.48, -0.5, 0.18, 0.18), face),
        (ellipse(0, 0.02, 0.58, 0.6), face),
        (ellipse(0, 0.34, 0.34, 0.26), (250, 228, 190)),
        (polygon((-0.13, 0.14), (0.13, 0.14), (0, 0.3)), (90, 48, 40)),
        (ribbon([(-0.18, 0.38), (0, 0.45), (0.18, 0.38)], 0.05), (90, 48, 40)),
        (ellipse(-0.22, -0.12, 0.09, 0.11), BLACK),
        (ellipse(0.22, -0.12, 0.09, 0.11), BLACK),
    ]


def quadruped(coat: Colour, muzzle: Colour, *, stripes: Colour | None = None) -> list[Part]:
    """A four-legged animal from the side, head to the left."""
    parts: list[Part] = [(box(x, 0.15, x + 0.17, 0.92), coat) for x in (-0.45, -0.2, 0.28, 0.53)]
    parts += [
        (ribbon([(0.68, -0.1), (0.9, 0.1), (0.9, 0.45)], 0.09), coat),
        (ellipse(0.12, 0.02, 0.62, 0.36), coat),
        (ribbon([(-0.3, -0.02), (-0.52, -0.35), (-0.62, -0.6)], 0.42, 0.26), coat),
        (polygon((-0.6, -0.66), (-0.5, -0.98), (-0.42, -0.62)), coat),
        (ellipse(-0.68, -0.52, 0.27, 0.19, 20), coat),
        (ellipse(-0.86, -0.43, 0.12, 0.12), muzzle),
        (ellipse(-0.66, -0.6, 0.04, 0.04), muzzle),
    ]
    if stripes is not None:
        parts += [(band, stripes) for band in bands(0.12, 0.02, 0.62, 0.36, 6, 0.45)]
        parts += [
            (box(x, y, x + 0.17, y + 0.1), stripes) for x in (-0.45, 0.53) for y in (0.5, 0.7)
        ]
        for low in (0.12, 0.36, 0.6):
            middle = np.array([-0.3, -0.02]) * (1 - low) + np.array([-0.6, -0.55]) * low
            parts.append((ellipse(float(middle[0]), float(middle[1]), 0.19, 0.05, 25), stripes))
    return parts


def bear(coat: Colour) -> list[Part]:
    """A bear sitting upright, seen from the front."""
    tan: Colour = (186, 134, 88)
    return [
        (ellipse(0, 0.4, 0.66, 0.58), coat),
        (ellipse(-0.5, 0.86, 0.26, 0.14), coat),
        (ellipse(0.5, 0.86, 0.26, 0.14), coat),
        (ellipse(-0.38, -0.76, 0.18, 0.18), coat),
        (ellipse(0.38, -0.76, 0.18, 0.18), coat),
        (ellipse(0, -0.4, 0.5, 0.44), coat),
        (ellipse(0, -0.24, 0.25, 0.2), tan),
        (ellipse(0, -0.32, 0.09, 0.06), BLACK),
        (ellipse(-0.2, -0.5, 0.055, 0.055), WHITE),
        (ellipse(0.2, -0.5, 0.055, 0.055), WHITE),
        (arc(0, 0.34, 0.3, 0.26, 0, 180), (74, 62, 60)),
    ]


def butterfly(wing: Colour, spot: Colour) -> list[Part]:
    """A butterfly with spread wings."""
    parts: list[Part] = []
    for side in (-1, 1):
        parts += [
            (ellipse(side * 0.48, -0.32, 0.48, 0.36, -side * 30), wing),
            (ellipse(side * 0.38, 0.38, 0.36, 0.3, side * 30), wing),
            (ellipse(side * 0.55, -0.36, 0.18, 0.14), spot),
            (ellipse(side * 0.4, 0.4, 0.13, 0.11), spot),
            (ribbon([(0, -0.5), (side * 0.22, -0.9)], 0.05), BLACK),
        ]
    return [*parts, (ellipse(0, 0, 0.1, 0.6), BLACK)]


def spider(body: Colour) -> list[Part]:
    """A spider from above, eight bent legs."""
    parts: list[Part] = []
    for side in (-1, 1):
        for leg, (knee, foot) in enumerate(
            [(-0.65, -0.95), (-0.25, -0.35), (0.2, 0.35), (0.55, 0.95)]
        ):
            reach = 0.7 + 0.08 * (leg in (1, 2))
            parts.append(
                (ribbon([(0, 0), (side * 0.5, knee), (side * reach, foot)], 0.09, 0.05), body)
            )
    return [*parts, (ellipse(0, 0.3, 0.34, 0.4), body), (ellipse(0, -0.2, 0.22, 0.22), body)]


def starfish(skin: Colour, spot: Colour) -> list[Part]:
    """A starfish with a dot on every arm."""
    arms = np.deg2rad(np.arange(5) * 72 - 90)
    dots = [(ellipse(0.5 * np.cos(a), 0.5 * np.sin(a), 0.08, 0.08), spot) for a in arms]
    return [(star(0, 0, 0.98, 0.38, 5), skin), (ellipse(0, 0, 0.12, 0.12), spot), *dots]


def sunflower(petal: Colour, middle: Colour) -> list[Part]:
    """A flower head on a stalk with two leaves."""
    return [
        (ribbon([(0, 0.2), (0.04, 0.98)], 0.1), (70, 140, 60)),
        (ellipse(0.26, 0.75, 0.24, 0.1, 30), (84, 160, 70)),
        (ellipse(-0.2, 0.85, 0.22, 0.09, -30), (84, 160, 70)),
        (star(0, -0.25, 0.7, 0.42, 13), petal),
        (ellipse(0, -0.25, 0.34, 0.34), middle),
    ]


def mushroom(cap: Colour) -> list[Part]:
    """A toadstool with white dots."""
    parts: list[Part] = [
        (polygon((-0.2, 0.0), (0.2, 0.0), (0.3, 0.95), (-0.3, 0.95)), (240, 230, 206)),
        (arc(0, 0.12, 0.9, 0.95, 180, 360), cap),
    ]
    dots = ((-0.45, -0.2, 0.13), (0.05, -0.5, 0.16), (0.5, -0.15, 0.12), (0.02, -0.08, 0.1))
    return parts + [(ellipse(x, y, r, r), WHITE) for x, y, r in dots]


def apple(skin: Colour) -> list[Part]:
    """An apple with stalk and leaf."""
    return [
        (ribbon([(0, -0.4), (0.08, -0.88)], 0.1), (110, 70, 40)),
        (ellipse(0.34, -0.72, 0.28, 0.12, -25), (90, 170, 70)),
        (ellipse(-0.24, 0.15, 0.5, 0.62), skin),
        (ellipse(0.24, 0.15, 0.5, 0.62), skin),
        (ellipse(-0.38, -0.1, 0.1, 0.2, 20), (255, 214, 200)),
    ]


def face() -> list[Part]:
    """A friendly face."""
    return [
        (ellipse(0, -0.05, 0.72, 0.92), (96, 62, 44)),
        (ellipse(0, 0.08, 0.62, 0.8), (236, 190, 158)),
        (ellipse(-0.24, -0.05, 0.1, 0.08), WHITE),
        (ellipse(0.24, -0.05, 0.1, 0.08), WHITE),
        (ellipse(-0.24, -0.05, 0.05, 0.06), BLACK),
        (ellipse(0.24, -0.05, 0.05, 0.06), BLACK),
        (polygon((0, 0.0), (0.1, 0.28), (-0.08, 0.28)), (214, 160, 130)),
        (arc(0, 0.45, 0.26, 0.18, 0, 180), (190, 60, 66)),
    ]
