"""Spatter: drops of water that lighten the picture, or splashes of mud that cover it."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import correlate1d

from ops.compiled import compiled
from ops.corruptions.edge_distance import edge_distance
from ops.corruptions.gaussian import blur_field, gaussian_pairs
from ops.corruptions.kernel import Image, Level

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

WATER = (np.array([175, 238, 238]) / 255).astype(np.float32)  # pale turquoise
MUD = (np.array([63, 42, 20]) / 255).astype(np.float32)  # brown
_EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
# Distance from an edge, in pixels, beyond which all of a drop is the same.
_DEEPEST = 20.0
# Blurred mud thinner than this is left out.
THINNEST_MUD = 0.8


def exact(image: Image, level: Level) -> Image:
    """Spatter as the official implementation makes it.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    level : Level
        Parameters ``mean`` and ``std`` of the liquid's normal numbers, ``sigma`` of their blur in
        pixels, ``threshold`` (below it there is no liquid), ``mud`` (whether it is mud, not
        water) and ``intensity`` (of water; of mud the sigma of a second blur). Draws the normal
        numbers.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        The picture behind spatter.
    """
    given = level.parameters
    drawn = level.draws.normal("layer", given["mean"], given["std"], image.shape[:2])
    liquid = blur_field(drawn, given["sigma"])
    liquid[liquid < given["threshold"]] = 0.0
    if given["mud"]:
        cover, colour = _mud_cover(liquid, given["threshold"], given["intensity"]), MUD
    else:
        cover, colour = water_cover(liquid, given["intensity"]), WATER
    out = np.empty_like(image)
    lay(image, cover, colour, given["mud"], out)
    return out


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """The same: one edge that is found elsewhere would change the drops around it."""
    return [exact(image, level) for level in levels]


def relief(depth: Image) -> Singles:
    """The rims of drops, as lit from one side.

    Parameters
    ----------
    depth : uint8 array, shape (height, width)
        Of the water, in grey levels.

    Returns
    -------
    float32 array, shape (height, width)
        Whole numbers of [0, 255].
    """
    edges = np.asarray(cv2.Canny(depth, 50, 150), np.uint8)
    near = cv2.blur(edge_distance(edges, _DEEPEST), (3, 3)).astype(np.uint8)
    lit = cv2.filter2D(cv2.equalizeHist(near), cv2.CV_8U, _EMBOSS)
    return np.asarray(cv2.blur(lit, (3, 3)), np.float32)


def water_cover(liquid: Doubles, intensity: float) -> Singles:
    """How much water lies on each pixel.

    Parameters
    ----------
    liquid : float64 array, shape (height, width)
        Of the water where there is any, 0 elsewhere.
    intensity : float
        Of the deepest water.

    Returns
    -------
    float32 array, shape (height, width)
        In [0, intensity].
    """
    depth = (liquid * 255).astype(np.uint8)
    cover: Singles = depth * relief(depth)
    cover /= cover.max()
    cover *= np.float32(intensity)
    return cover


def _mud_cover(liquid: Doubles, threshold: float, sigma: float) -> Singles:
    """How much of each pixel mud hides: 0, or in [0.8, 1]."""
    wet = (liquid > threshold).astype(np.float32)
    # As scipy.ndimage.gaussian_filter, which would take the processor's own weights.
    pairs = gaussian_pairs(sigma)
    weights = np.concatenate((pairs[:0:-1], pairs))
    down = correlate1d(wet, weights, 0, mode="nearest")
    cover = np.asarray(correlate1d(down, weights, 1, mode="nearest"), np.float32)
    cover[cover < THINNEST_MUD] = 0.0
    return cover


@compiled()
def lay(image: Image, cover: Singles, colour: Singles, hides: bool, out: Image) -> None:
    """Add a liquid of a colour to the image, which it hides or shines through, and truncate."""
    height, width, _ = image.shape
    for y in range(height):
        for x in range(width):
            thickness = cover[y, x]
            clear = np.float32(1.0) - thickness if hides else np.float32(1.0)
            for channel in range(3):
                seen = np.float32(image[y, x, channel]) / np.float32(255.0) * clear
                seen = seen + thickness * colour[channel]
                out[y, x, channel] = np.uint8(min(seen, np.float32(1.0)) * np.float32(255.0))
