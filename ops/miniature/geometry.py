"""Outlines as arrays of points: the alphabet every picture is spelled in.

Coordinates run from -1 to 1, x to the right and y down; a shape is a float array of shape (n, 2).
Nothing here knows a colour or a picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Colour = tuple[int, int, int]
Part = tuple[Points, Colour]


def polygon(*corners: tuple[float, float]) -> Points:
    """Return the polygon through the corners."""
    return np.array(corners, dtype=np.float64)


def ellipse(x: float, y: float, rx: float, ry: float, turn: float = 0.0) -> Points:
    """Return an ellipse about (x, y), turned by `turn` degrees."""
    return arc(x, y, rx, ry, 0, 360, turn)


def arc(
    x: float, y: float, rx: float, ry: float, start: float, stop: float, turn: float = 0.0
) -> Points:
    """Return the segment of an ellipse between two angles in degrees (0 is right, 90 is down)."""
    angle = np.deg2rad(np.linspace(start, stop, 25))
    points = np.stack([rx * np.cos(angle), ry * np.sin(angle)], axis=1)
    return np.asarray(rotate(points, turn) + (x, y), dtype=np.float64)  # noqa: RUF005


def box(x0: float, y0: float, x1: float, y1: float) -> Points:
    """Return an upright rectangle."""
    return polygon((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def star(x: float, y: float, radius: float, inner: float, tips: int, turn: float = 0.0) -> Points:
    """Return a star of `tips` tips; `inner` is the radius between the tips."""
    angle = np.pi * np.arange(2 * tips) / tips - np.pi / 2 + np.deg2rad(turn)
    reach = np.where(np.arange(2 * tips) % 2 == 0, radius, inner)
    return np.stack([x + reach * np.cos(angle), y + reach * np.sin(angle)], axis=1)


def regular(x: float, y: float, radius: float, sides: int, turn: float = 0.0) -> Points:
    """Return a regular polygon with a corner on top."""
    angle = 2 * np.pi * np.arange(sides) / sides - np.pi / 2 + np.deg2rad(turn)
    return np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)


def ribbon(path: Sequence[tuple[float, float]], *widths: float) -> Points:
    """Return a band along a path; one width, or one per end and linear between."""
    line = np.array(path, dtype=np.float64)
    along = np.gradient(line, axis=0)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-9
    width = np.linspace(widths[0], widths[-1], len(line))[:, None] / 2
    return np.concatenate([line + normal * width, (line - normal * width)[::-1]])


def bands(x: float, y: float, rx: float, ry: float, count: int, fill: float = 0.5) -> list[Points]:
    """Return `count` upright stripes cut to an ellipse; `fill` is the share they cover."""
    found = []
    for left in np.linspace(-0.92, 0.92 - 2 * fill / count, count):
        across = np.linspace(left, left + 1.84 * fill / count, 4)
        tall = np.sqrt(np.clip(1 - across**2, 0, 1))
        top = np.stack([x + rx * across, y - ry * tall], axis=1)
        foot = np.stack([x + rx * across, y + ry * tall], axis=1)
        found.append(np.concatenate([top, foot[::-1]]))
    return found


def rotate(points: Points, degrees: float) -> Points:
    """Return the points turned about the origin, clockwise as seen (y runs down)."""
    turn = np.deg2rad(degrees)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray(points @ matrix, dtype=np.float64)


def move(parts: Sequence[Part], x: float, y: float, scale: float) -> list[Part]:
    """Return the drawing scaled and then shifted."""
    return [(points * scale + (x, y), colour) for points, colour in parts]
