"""What every calibration metric starts from: confidences in order, and whether they were right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError


def checked(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Confidences and correctness as float64, shape (N,).

    Raises
    ------
    ShiftlakeError
        If there is no image, the shapes differ, or a confidence lies outside [0, 1].
    """
    typed, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    good = (typed >= 0) & (typed <= 1)
    if typed.ndim != 1 or typed.shape != right.shape or not good.all() or not good.size:
        raise ShiftlakeError(
            "Calibration is not defined for these confidences.",
            expected="one probability in [0, 1] an image, and whether it was right",
            found=f"shapes {typed.shape} and {right.shape}, {int((~good).sum())} outside",
            where="calibration metrics",
            remedy="leave out images that could not be read: they have no confidence",
        )
    return typed, right


def by_confidence(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same by rising confidence; equal ones keep their order, which is the caller's to fix."""
    typed, right = checked(confidence, correct)
    order = np.argsort(typed, kind="stable")
    return typed[order], right[order]
