"""One frame of a video as it was read, and its JPEG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from ops.errors import ShiftlakeError

PictureType = Literal["I", "P", "B"]


@dataclass(frozen=True, eq=False)
class Picture:
    """One frame, or the reason why there is none.

    Attributes
    ----------
    index : int
        In the order of presentation, from 0.
    seconds : float
        When it is presented, from the first frame; NaN where the rate is unknown.
    pict_type : {"I", "P", "B"} or None
        How it was coded, where its format tells: H.264, HEVC and MPEG do, VP9 and AV1 have no B,
        numbered pictures have none.
    pixels : uint8 array, shape (height, width, 3), or None
        In RGB, upright, rows contiguous. None where there is a `problem`: what a decoder makes up
        for a damaged frame is not passed on.
    problem : str or None
        Why the frame is not to be used.
    jpeg : bytes or None
        The published file, where the frame was read from one.
    """

    index: int
    seconds: float
    pict_type: PictureType | None
    pixels: npt.NDArray[np.uint8] | None
    problem: str | None = None
    jpeg: bytes | None = None


def frame_jpeg(picture: Picture, quality: int = 95) -> bytes:
    """Give the JPEG of a frame: the published bytes where there are some.

    Parameters
    ----------
    picture : Picture
        Without a `problem`.
    quality : int
        1 to 100, as libjpeg counts; chroma is subsampled 4:2:0. No part in published bytes.

    Returns
    -------
    bytes
        Of the same pixels the same bytes, under the same OpenCV.

    Raises
    ------
    ShiftlakeError
        If the picture has no pixels, or the quality is out of range.
    """
    if picture.jpeg is not None:
        return picture.jpeg
    if picture.pixels is None or not 1 <= quality <= 100:
        raise ShiftlakeError(
            "This frame cannot be written as a JPEG.",
            expected="a frame without a problem, and a quality from 1 to 100",
            found=picture.problem or f"quality {quality}",
            where=f"frame {picture.index}",
            remedy="Leave frames with a problem out, as mining does.",
        )
    told = [
        cv2.IMWRITE_JPEG_QUALITY,
        quality,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    ]
    _, data = cv2.imencode(".jpg", cv2.cvtColor(picture.pixels, cv2.COLOR_RGB2BGR), told)
    return data.tobytes()
