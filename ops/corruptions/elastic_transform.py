"""Elastic distortion: a random affine warp, then every pixel fetched from a little elsewhere.

What the official code gives depends on the version of OpenCV. Up to 4 its affine warp samples at
the nearest 1/32 of a pixel, and so the published images were made; 5 samples in between. This
follows the former (:mod:`ops.corruptions.affine`). The two differ by at most 3 grey levels on 4 to
5 % of a photograph's samples, and by at most 7 on 11 % of hard synthetic patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from ops.compiled import compiled
from ops.corruptions.affine import warp_affine
from ops.corruptions.displacement import displace
from ops.corruptions.gaussian import blur_field
from ops.corruptions.kernel import Image, Level
from ops.corruptions.unit_interval import uniform32
from ops.corruptions.wide_gaussian import blur_wide, blur_wide_exact

Singles = npt.NDArray[np.float32]

# In standard deviations; the official code's choice.
TRUNCATE = 3.0
# From this standard deviation on, a blur is faster by way of the frequencies.
WIDE = 10.0


def exact(image: Image, level: Level) -> Image:
    """Distort with displacement fields of double precision.

    Parameters
    ----------
    image : uint8 array, shape (size, size, 3)
        RGB.
    level : Level
        Parameters ``alpha`` and ``sigma`` (of the displacement fields, in pixels) and ``jitter``
        (how far a corner of the affine warp may move, in pixels). Draws the corners' moves, the
        uniform numbers of the horizontal field, those of the vertical field.

    Returns
    -------
    uint8 array, shape (size, size, 3)
        The distorted picture.
    """
    clear = _four_channels(image)
    warped = np.empty_like(clear)
    _warp(clear, level, warped)
    shape = image.shape[:2]
    across, down = (displacement_exact(level, purpose, shape) for purpose in ("field_x", "field_y"))
    return displace(warped, across, down)


def fast(image: Image, levels: Sequence[Level]) -> list[Image]:
    """Distort with displacement fields of single precision; the rest is that of `exact`.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB.
    levels : sequence of Level
        As for `exact`.

    Returns
    -------
    list of uint8 arrays, shape (size, size, 3)
        One for each level.
    """
    shape = image.shape[:2]
    clear = _four_channels(image)
    warped = np.empty_like(clear)  # one for all: fresh memory costs more than what is put there
    outputs = []
    for level in levels:
        _warp(clear, level, warped)
        across, down = (displacement(level, purpose, shape) for purpose in ("field_x", "field_y"))
        outputs.append(displace(warped, across, down))
    return outputs


def _four_channels(image: Image) -> Singles:
    """RGB on [0, 1] and an idle channel."""
    height, width, _ = image.shape
    out = np.zeros((height, width, 4), np.float32)
    _spread(image.reshape(-1), out.reshape(-1))
    return out


@compiled()
def _spread(samples: npt.NDArray[np.uint8], out: Singles) -> None:
    for pixel in range(len(out) // 4):
        for channel in range(3):
            level = np.float32(samples[3 * pixel + channel])
            out[4 * pixel + channel] = level / np.float32(255.0)


def _warp(image: Singles, level: Level, out: Singles) -> None:
    """Move three corners of a square about the centre, a third of the image to each side."""
    height, width, _ = image.shape
    centre = np.array([height // 2, width // 2], np.float32)
    reach = min(height, width) // 3
    corners = centre + np.array([[reach, reach], [reach, -reach], [-reach, -reach]], np.float32)
    jitter = level.parameters["jitter"]
    moves = level.draws.uniform("corners", -jitter, jitter, corners.shape).astype(np.float32)
    matrix = np.asarray(cv2.getAffineTransform(corners, corners + moves), np.float64)
    warp_affine(image, matrix, out)


def displacement_exact(level: Level, purpose: str, shape: tuple[int, int]) -> Singles:
    """One of a level's two displacement fields, in pixels: smoothed uniform numbers.

    Parameters
    ----------
    level : Level
        As for `exact`.
    purpose : {"field_x", "field_y"}
        Which of the two; its uniform numbers are drawn.
    shape : tuple of int
        Height and width of the picture.

    Returns
    -------
    float32 array, shape (height, width)
        The field, computed in double precision and rounded.
    """
    alpha, sigma = level.parameters["alpha"], level.parameters["sigma"]
    field = level.draws.uniform(purpose, -1.0, 1.0, shape)
    if sigma >= WIDE:
        return blur_wide_exact(field, sigma, truncate=TRUNCATE, gain=alpha)
    if sigma:
        field = blur_field(field, sigma, truncate=TRUNCATE, border="reflect")
    return np.asarray(field * alpha, np.float32)


def displacement(level: Level, purpose: str, shape: tuple[int, int]) -> Singles:
    """The same field as `displacement_exact`, computed in single precision."""
    alpha, sigma = level.parameters["alpha"], level.parameters["sigma"]
    field = uniform32(level.draws, purpose, shape[0] * shape[1]).reshape(shape)
    field = field * np.float32(2.0) - np.float32(1.0)
    if sigma >= WIDE:
        return blur_wide(field, sigma, truncate=TRUNCATE, gain=alpha)
    if sigma:
        field = blur_field(field, sigma, truncate=TRUNCATE, border="reflect")
    return field * np.float32(alpha)
