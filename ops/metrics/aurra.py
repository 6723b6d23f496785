"""AURRA: accuracy over all response rates, the most confident predictions answered first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.confidence import checked


def aurra(confidence: NDArray[np.floating], correct: NDArray[np.bool_]) -> float:
    """Area under the response rate accuracy curve, ``mean_i (accuracy of the i most confident)``.

    Parameters
    ----------
    confidence : ndarray of float, shape (N,)
        Probability of the predicted class, in [0, 1]. Equal ones are answered in the order they
        are given in, on which the value depends: give them in the order of `sample_key`.
    correct : ndarray of bool, shape (N,)

    Returns
    -------
    float
        In [0, 1]; higher is better. Of a confidence that knows nothing: the accuracy.

    Raises
    ------
    ShiftlakeError
        If there is no image, or a confidence is no probability.

    Notes
    -----
    Hendrycks et al., arXiv:1907.07174, section 4.
    """
    typed, right = checked(confidence, correct)
    order = np.argsort(-typed, kind="stable")
    return float(np.mean(np.cumsum(right[order]) / np.arange(1, right.size + 1)))
