"""ImageNet-P: how often the prediction changes between the frames of a sequence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics.frame_pairs import Reference, frame_pairs
from ops.perturbations.facts import PERTURBATIONS

# The validation perturbations and the further noise levels enter no mean.
PERTURBATIONS_10 = PERTURBATIONS


def flips(pred: NDArray[np.integer], reference: Reference) -> NDArray[np.int64]:
    """Pairs of frames of each sequence whose predictions differ.

    Parameters
    ----------
    pred : ndarray of int, shape (M, N)
        Top-1 class of M sequences of N frames; -1 for a frame that could not be read, which
        agrees with no other.
    reference : {"first", "previous"}
        What each of the N - 1 later frames is compared with.

    Returns
    -------
    ndarray of int64, shape (M,)
        In ``0 .. N - 1``. The flip probability of a perturbation is the mean over sequences of
        ``flips / (N - 1)`` (Hendrycks and Dietterich, arXiv:1903.12261, section 4).
    """
    earlier, later = frame_pairs(pred, reference)
    return np.asarray(((later != earlier) | (later < 0)).sum(axis=1), np.int64)


def mean_over_10(values: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
    """Mean over the 10 perturbations: of flip probabilities, top-5 distances or Zipf distances.

    None is the paper's mFR or mT5D, which first divide each perturbation's value by AlexNet's
    on the same sequences.

    Parameters
    ----------
    values : mapping of str to array_like of float
        One value a perturbation, at least of the 10.

    Returns
    -------
    ndarray of float64
        Of the shape of one value.
    """
    total = np.zeros(())
    for name in PERTURBATIONS_10:
        total = total + np.asarray(values[name], np.float64)
    return np.asarray(total / len(PERTURBATIONS_10))
