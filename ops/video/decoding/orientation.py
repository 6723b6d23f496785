"""Turning stored pictures the way they are displayed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from av.sidedata.sidedata import Type


def orientation(frame: Any) -> tuple[int, bool]:
    """Read how a frame is to be displayed.

    Parameters
    ----------
    frame : av.VideoFrame

    Returns
    -------
    degrees : {0, 90, 180, 270}
        Anticlockwise.
    mirrored : bool
        Whether it is mirrored left to right before it is turned.
    """
    matrix = frame.side_data.get(Type.DISPLAYMATRIX)
    if matrix is None:
        return 0, False
    # Rows of 16.16 numbers: x' = a x + c y, y' = b x + d y, with y downwards.
    a, b, _, c, d, *_ = np.frombuffer(matrix, np.int32).astype(np.int64).tolist()
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    if abs(a) >= abs(b):
        return (0 if a >= 0 else 180), mirrored
    return (90 if b < 0 else 270), mirrored


def upright(pixels: npt.NDArray[np.uint8], degrees: int, mirrored: bool) -> npt.NDArray[np.uint8]:
    """Turn a picture the way it is displayed.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        With contiguous rows.
    """
    if mirrored:
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(np.rot90(pixels, degrees // 90) if degrees else pixels)
