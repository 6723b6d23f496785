"""From outlines to pictures: pose, background, light, noise; and the styles of the renditions.

What belongs here is how a thing is shown; what it is (outlines and colours) comes in as parts.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from ops.miniature.geometry import Colour, Part, Points, rotate, star

OVERSAMPLE = 2


@dataclass(frozen=True)
class Nuisance:
    """How much a picture may vary.

    Parameters
    ----------
    side : tuple of int
        Least and greatest width and height, px.
    scale : tuple of float
        Size of the thing as a share of the shorter side.
    turn : float
        Greatest rotation, degrees.
    shift : float
        Greatest distance from the middle, as a share of the shorter side.
    hue : float
        Greatest hue change, degrees.
    light : tuple of float
        Least and greatest brightness factor.
    noise : float
        Standard deviation of pixel noise, grey levels.
    clutter, occluders : int
        Greatest number of random shapes behind and in front of the thing.
    blur : float
        Greatest Gaussian radius, px.
    """

    side: tuple[int, int] = (72, 110)
    scale: tuple[float, float] = (0.62, 0.92)
    turn: float = 18.0
    shift: float = 0.1
    hue: float = 10.0
    light: tuple[float, float] = (0.7, 1.12)
    noise: float = 9.0
    clutter: int = 4
    occluders: int = 0
    blur: float = 0.6


HARD = Nuisance(
    scale=(0.36, 0.62), turn=70, hue=120, noise=20, clutter=12, occluders=2, shift=0.2,
    light=(0.5, 1.3), blur=1.2,
)  # fmt: skip
"""Small, turned, of a strange hue, half hidden: most networks fail on it."""


@dataclass(frozen=True)
class Pose:
    """One thing in one place under one light; a video frame is a pose with a small change."""

    size: tuple[int, int]
    x: float
    y: float
    scale: float
    turn: float
    flip: bool
    hue: float
    light: float
    blur: float
    background: NDArray[np.uint8]
    behind: tuple[Part, ...]
    before: tuple[Part, ...]


def pose(rng: np.random.Generator, nuisance: Nuisance) -> Pose:
    """Draw a pose at random within the nuisance."""
    low, high = nuisance.side
    big = 2 if rng.random() < 0.03 else 1
    size = (int(rng.integers(low, high + 1)) * big, int(rng.integers(low, high + 1)) * big)
    tone = rng.uniform(75, 205) + rng.normal(0, 22, 3)
    patches = tone + rng.normal(0, 18, (3, 4, 1)) + rng.normal(0, 9, (3, 4, 3))
    background = np.clip(patches, 0, 255).astype(np.uint8)
    return Pose(
        size=size,
        x=float(rng.uniform(-nuisance.shift, nuisance.shift)),
        y=float(rng.uniform(-nuisance.shift, nuisance.shift)),
        scale=float(rng.uniform(*nuisance.scale)),
        turn=float(rng.uniform(-nuisance.turn, nuisance.turn)),
        flip=bool(rng.random() < 0.5),
        hue=float(rng.uniform(-nuisance.hue, nuisance.hue)),
        light=float(rng.uniform(*nuisance.light)),
        blur=float(rng.uniform(0, nuisance.blur)),
        background=background,
        behind=_debris(rng, int(rng.integers(0, nuisance.clutter + 1)), 0.45, tone),
        before=_debris(rng, nuisance.occluders, 0.4, None),
    )


def photo(
    parts: Sequence[Part], where: Pose, rng: np.random.Generator, noise: float
) -> Image.Image:
    """Render a thing as a photograph.

    Parameters
    ----------
    parts : sequence of Part
        Outlines with colours, drawn in order.
    where : Pose
        Place, light and surroundings.
    rng : numpy.random.Generator
        Stream of the pixel noise.
    noise : float
        Standard deviation of the noise, grey levels.

    Returns
    -------
    PIL.Image.Image
        RGB, of `where.size`.
    """
    wide, high = where.size
    big = (wide * OVERSAMPLE, high * OVERSAMPLE)
    picture = Image.fromarray(where.background).resize(big, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(picture)
    for points, colour in where.behind:
        _fill(pen, points, big, colour)
    for points, colour in parts:
        _fill(pen, _placed(points, where), big, _hued(colour, where.hue))
    for points, colour in where.before:
        _fill(pen, points, big, colour)
    picture = picture.reduce(OVERSAMPLE)
    if where.blur > 0.25:
        picture = picture.filter(ImageFilter.GaussianBlur(where.blur))
    pixels = np.asarray(picture, dtype=np.float32)
    slope = np.linspace(1.1, 0.9, high, dtype=np.float32)[:, None, None]
    grain = rng.standard_normal((high, wide, 3), dtype=np.float32) * noise
    lit = pixels * slope * where.light + grain
    return Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))


def snapshot(parts: Sequence[Part], rng: np.random.Generator, nuisance: Nuisance) -> Image.Image:
    """Render a thing as a photograph in a pose of its own."""
    return photo(parts, pose(rng, nuisance), rng, nuisance.noise)


def mixed(rng: np.random.Generator, nuisance: Nuisance, hard: float) -> Nuisance:
    """Return the given nuisance, or `HARD` with probability `hard`."""
    return HARD if rng.random() < hard else nuisance


def sketch(parts: Sequence[Part], rng: np.random.Generator, side: int = 96) -> Image.Image:
    """Render a thing as black strokes on white, by a slightly unsteady hand."""
    nuisance = Nuisance(side=(side, side), scale=(0.75, 0.95), turn=8)
    where = pose(rng, nuisance)
    big = (where.size[0] * OVERSAMPLE, where.size[1] * OVERSAMPLE)
    picture = Image.new("RGB", big, (255, 255, 255))
    pen = ImageDraw.Draw(picture)
    for points, colour in parts:
        wobble = rng.normal(0, 0.008, points.shape)
        shade = 70 if sum(colour) < 200 else 255
        _fill(pen, _placed(points + wobble, where), big, (shade,) * 3, outline=(12, 12, 12))
    return picture.reduce(OVERSAMPLE)


def rendition(parts: Sequence[Part], rng: np.random.Generator, style: str) -> Image.Image:
    """Render a thing as an artwork.

    Parameters
    ----------
    parts : sequence of Part
        Outlines with colours.
    rng : numpy.random.Generator
        Stream of pose and palette.
    style : str
        `art` (strange hues), `cartoon` (flat with black outlines), `graphic` (two tones),
        `embroidery` (coarse blocks), `sketch` (strokes) or `misc` (negative).

    Returns
    -------
    PIL.Image.Image
        RGB.
    """
    if style == "sketch":
        return sketch(parts, rng, int(rng.integers(76, 108)))
    nuisance = Nuisance(hue=90 if style == "art" else 14, noise=2, clutter=1, light=(0.95, 1.1))
    if style in ("art", "misc", "embroidery"):
        picture = snapshot(parts, rng, nuisance)
        if style == "art":
            return ImageOps.posterize(picture, 2)
        if style == "misc":
            return ImageOps.invert(picture)
        wide, high = picture.size
        small = picture.resize((wide // 4, high // 4), Image.Resampling.BOX)
        return small.resize((wide, high), Image.Resampling.NEAREST)
    where = pose(rng, nuisance)
    big = (where.size[0] * OVERSAMPLE, where.size[1] * OVERSAMPLE)
    ground = _hued((250, 226, 160), float(rng.uniform(0, 360)))
    picture = Image.new("RGB", big, ground)
    pen = ImageDraw.Draw(picture)
    for points, colour in parts:
        flat = _hued(colour, where.hue)
        if style == "graphic":
            flat = (250, 250, 246) if sum(colour) > 380 else (40, 44, 92)
        _fill(pen, _placed(points, where), big, flat, outline=(16, 16, 20))
    return picture.reduce(OVERSAMPLE)


def extent(parts: Sequence[Part], where: Pose) -> tuple[float, float, float, float]:
    """Return the box about a thing as `photo` draws it: xmin, ymin, xmax, ymax in pixels.

    It is not cut to the picture: a thing that leaves it has a box that does.
    """
    corners = np.concatenate([_placed(points, where) for points, _ in parts])
    pixels = corners * (min(where.size) / 2) + (where.size[0] / 2, where.size[1] / 2)
    left, top = pixels.min(axis=0)
    right, bottom = pixels.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _placed(points: Points, where: Pose) -> Points:
    turned = rotate(points * (-1 if where.flip else 1, 1), where.turn)
    return turned * where.scale + (2 * where.x, 2 * where.y)


def _fill(
    pen: ImageDraw.ImageDraw,
    points: Points,
    size: tuple[int, int],
    colour: tuple[int, ...],
    outline: tuple[int, int, int] | None = None,
) -> None:
    half = min(size) / 2
    corners = points * half + (size[0] / 2, size[1] / 2)
    flat = corners.round(1).ravel().tolist()
    if outline is None:
        pen.polygon(flat, fill=colour)
    else:
        pen.polygon(flat, fill=colour, outline=outline, width=max(2, round(half / 40)))


def _debris(
    rng: np.random.Generator, count: int, reach: float, tone: NDArray[np.float64] | None
) -> tuple[Part, ...]:
    parts: list[Part] = []
    for _ in range(count):
        x, y = rng.uniform(-1.1, 1.1, 2)
        radius = float(rng.uniform(0.3, 1.0)) * reach
        blob = star(
            float(x), float(y), radius, radius * float(rng.uniform(0.5, 0.9)),
            int(rng.integers(3, 7)), float(rng.uniform(0, 90)),
        )  # fmt: skip
        base = rng.uniform(30, 230, 3) if tone is None else tone + rng.normal(0, 40, 3)
        red, green, blue = np.clip(base, 0, 255).astype(int).tolist()
        parts.append((blob, (red, green, blue)))
    return tuple(parts)


def _hued(colour: Colour, degrees: float) -> Colour:
    hue, saturation, value = colorsys.rgb_to_hsv(*(c / 255 for c in colour))
    red, green, blue = colorsys.hsv_to_rgb((hue + degrees / 360) % 1, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)
