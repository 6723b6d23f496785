"""Which frames of a perturbation sequence are compared with which."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError

Reference: TypeAlias = Literal["first", "previous"]

_T = TypeVar("_T", bound=np.generic)


def frame_pairs(frames: NDArray[_T], reference: Reference) -> tuple[NDArray[_T], NDArray[_T]]:
    """The earlier and the later frames of every pair, as views of `frames`.

    Parameters
    ----------
    frames : ndarray, shape (M, N, ...)
        M sequences of N frames, at least two.
    reference : {"first", "previous"}
        What a frame is compared with. Frames of a noise are drawn independently around one clean
        first frame; in every other perturbation one thing changes from each frame to the next.

    Returns
    -------
    earlier, later : ndarray, shape (M, N - 1, ...)
        `earlier` of shape (M, 1, ...) for ``"first"``, which broadcasts.

    Raises
    ------
    ShiftlakeError
        If there is no pair, or no such reference.
    """
    if frames.ndim < 2 or frames.shape[1] < 2 or reference not in ("first", "previous"):
        raise ShiftlakeError(
            "Frames of these sequences cannot be compared.",
            expected="sequences of two or more frames, compared with first or previous",
            found=f"an array of shape {frames.shape}, compared with {reference}",
            where="flips or distances between frames",
            remedy="give the catalog's number of frames and reference of the perturbation",
        )
    earlier = frames[:, :1] if reference == "first" else frames[:, :-1]
    return earlier, frames[:, 1:]
