"""RMS calibration error over bins of equal count, and the figure that was published for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.metrics.confidence import by_confidence

BIN = 100


def rms_calib(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_], bin_size: int = BIN
) -> float:
    """RMS distance between confidence and accuracy over bins of `bin_size` images.

    ``sqrt(sum_b n_b / N * (mean confidence_b - accuracy_b)^2)``, the images in the order of their
    confidence, what is left over in the last bin (natural-adv-examples, ``calib_err``).

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
        Probability of the predicted class, in [0, 1]; over the masked classes for ImageNet-A.
        Equal ones keep their order, so give them in the order of `sample_key`.
    correct : ndarray of bool, shape (N,)
    bin_size : int

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ShiftlakeError
        If there is no image, or a confidence is no probability.
    """
    share, gap = _gaps(confidence, correct, bin_size)
    return float(np.sqrt(np.sum(share * gap**2)))


def rms_calib_legacy(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_], bin_size: int = BIN
) -> float:
    """The same as the published code computes it: **without the bin of the highest confidence**.

    Only for comparison with published figures. With 100 to 199 images there is one bin, and the
    result is 0.0 whatever the model does.

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
    correct : ndarray of bool, shape (N,)
    bin_size : int

    Returns
    -------
    float
        In [0, 1], never above :func:`rms_calib`.

    Raises
    ------
    ShiftlakeError
        If there are fewer images than one bin holds, where the published code fails too.
    """
    if len(confidence) < bin_size:
        raise ShiftlakeError(
            "The published calibration error is not defined for so few images.",
            expected=f"at least {bin_size} images",
            found=f"{len(confidence)} images",
            where="rms_calib_legacy",
            remedy="use rms_calib",
        )
    share, gap = _gaps(confidence, correct, bin_size)
    return float(np.sqrt(np.sum(share[:-1] * gap[:-1] ** 2)))


def _gaps(
    confidence: NDArray[np.floating], correct: NDArray[np.bool_], bin_size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of the images, and confidence minus accuracy, of each bin by rising confidence."""
    rising, right = by_confidence(confidence, correct)
    starts = np.arange(max(1, rising.size // bin_size)) * bin_size
    size = np.diff(starts, append=rising.size)
    gap = np.add.reduceat(rising, starts) / size - np.add.reduceat(right, starts) / size
    return size / rising.size, gap
