"""Average precision of single frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.interpolated_ap import average_precisions
from ops.metrics.detection.matching import Matched
from ops.metrics.detection.rules import Interpolation


def frame_average_precision(
    matched: Matched, n_frames: int, interpolation: Interpolation = "101-point"
) -> NDArray[np.float64]:
    """Average precision of every frame by itself.

    Parameters
    ----------
    matched : Matched
    n_frames : int
    interpolation : {"101-point", "11-point", "all-point"}

    Returns
    -------
    ndarray of float64, shape (n_frames,)
        The mean over the classes that have a true box in the frame, each of that frame's own
        detections and boxes; NaN for a frame without a true box.
    """
    truth_group = matched.truth_frame * matched.n_labels + matched.truth_label
    groups, n_truth = np.unique(truth_group, return_counts=True)
    group = matched.frame * matched.n_labels + matched.label
    place = np.searchsorted(groups, group)
    # A class that is not in the frame: whatever was found of it does not bear on the others.
    known = groups[np.minimum(place, groups.size - 1)] == group if groups.size else place < 0
    values = average_precisions(place[known], matched.hit[known], n_truth, interpolation)
    frames = groups // max(matched.n_labels, 1)
    total = np.bincount(frames, weights=values, minlength=n_frames)
    classes = np.bincount(frames, minlength=n_frames)
    mean = np.full(n_frames, np.nan)
    np.divide(total, classes, out=mean, where=classes > 0)
    return mean
