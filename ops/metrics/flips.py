"""ImageNet-P: how often the prediction flips along a sequence, and how far the top 5 moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Noise sequences compare every frame with the clean first one: two noisy frames are not
# neighbours of each other (Hendrycks and Dietterich, arXiv:1903.12261, section 4.3).
NOISE = ("gaussian_noise", "shot_noise")


def flips(pred: NDArray[np.integer], *, noise: bool) -> NDArray[np.bool_]:
    """Whether the top-1 class differs between compared frames.

    Parameters
    ----------
    pred : ndarray of int, shape (S, F)
        Predictions of S sequences of F frames in order; -1 for an unreadable frame.
    noise : bool
        Compare with frame 1 (noise perturbations) instead of the frame before.

    Returns
    -------
    ndarray of bool, shape (S, F-1)
        Its mean is the flip probability FP. Dividing by AlexNet's FP on the same sequences
        gives the flip rate.
    """
    before = pred[:, :1] if noise else pred[:, :-1]
    return np.asarray(pred[:, 1:] != before)


def top5_distance(top5: NDArray[np.integer], *, noise: bool) -> NDArray[np.int64]:
    """Distance of two top-5 lists, for every pair of compared frames.

    Parameters
    ----------
    top5 : ndarray of int, shape (S, F, 5)
        The five first classes of every frame, best first.
    noise : bool

    Returns
    -------
    ndarray of int64, shape (S, F-1)
        ``sum_k |min(k-1, 5) - min(sigma(k)-1, 5)|`` over the five first ranks of the earlier
        frame, 0 to 15; ranks beyond 5 saturate, so five indices suffice. Its mean is uT5D.
    """
    before = top5[:, :1] if noise else top5[:, :-1]
    same = before[..., :, None] == top5[:, 1:, None, :]
    rank = np.where(same.any(-1), same.argmax(-1), 5)
    return np.asarray(np.abs(np.arange(5) - rank).sum(-1), dtype=np.int64)
