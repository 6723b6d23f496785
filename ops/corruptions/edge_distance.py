"""How far each pixel is from the nearest edge, near by: steps of a pixel, a diagonal, a knight.

OpenCV's distance transform takes Intel's library where it has it, and adds whole numbers elsewhere:
the two differ in the last digits, which decide how a drop of spatter is lit. This adds single
precision numbers in Intel's order, everywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled

Singles = npt.NDArray[np.float32]


def edge_distance(edges: npt.NDArray[np.uint8], most: float) -> Singles:
    """Distance to the nearest edge.

    Parameters
    ----------
    edges : uint8 array, shape (height, width)
        Not 0 where an edge is.
    most : float
        Distances beyond are cut to this one; up to 20.

    Returns
    -------
    float32 array, shape (height, width)
        In pixels: ``cv2.distanceTransform(255 - edges, cv2.DIST_L2, 5)`` as OpenCV's wheels for
        x86 have it, cut.
    """
    height, width = edges.shape
    distances = np.full((height + 4, width + 4), most + 1, np.float32)
    np.multiply(edges == 0, np.float32(most + 1), out=distances[2:-2, 2:-2])
    _spread(distances)
    distances = np.ascontiguousarray(distances[::-1, ::-1])  # then from the last to the first
    _spread(distances)
    return np.ascontiguousarray(np.minimum(distances, np.float32(most))[-3:1:-1, -3:1:-1])


@compiled()
def _spread(distances: Singles) -> None:
    """Step from the pixels above and to the left to each pixel."""
    straight, diagonal, knight = np.float32(1.0), np.float32(1.4), np.float32(2.1969)
    n = np.uint64(distances.shape[1] - 4)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    nearest = np.empty(n, np.float32)
    for row in range(2, len(distances) - 2):
        line, above, higher = distances[row], distances[row - 1], distances[row - 2]
        for i in range(n):
            aside = min(min(higher[i + one], higher[i + three]), min(above[i], above[i + four]))
            beside = min(above[i + one], above[i + three])
            near = min(min(aside + knight, beside + diagonal), above[i + two] + straight)
            nearest[i] = min(near, line[i + two])
        before = line[1]
        for i in range(n):
            before = min(nearest[i], before + straight)
            line[i + two] = before
