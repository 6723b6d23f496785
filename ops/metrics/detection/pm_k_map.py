"""Detection pm-k: mean average precision on each set's worst frame, beside that on the anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.detection.boxes import Detections, Truth
from ops.metrics.detection.frame_ap import frame_average_precision
from ops.metrics.detection.matching import match
from ops.metrics.detection.mean_ap import Ranking, mean_average_precision, ranking_of
from ops.metrics.detection.rules import COCO, Rule
from ops.metrics.detection.worst_frame import SetFrames, worst_frames


@dataclass(frozen=True)
class PmKMap:
    """Mean average precision at IoU 0.5 for every k asked for.

    Attributes
    ----------
    ks : tuple of int
    value : ndarray of float64, shape (K,)
        In [0, 1], NaN where no chosen frame has a true box. That of k = 0 is of the anchors. It is
        no mean over sets, so it may rise with k.
    chosen : ndarray of int64, shape (K, S)
        The frame of every set that was scored.
    frame_ap : ndarray of float64, shape (F,)
        Of every frame by itself; NaN for one without a true box.
    rankings : tuple of Ranking
        What :func:`ops.metrics.detection.paired_intervals` resamples.
    rule : Rule
    """

    ks: tuple[int, ...]
    value: NDArray[np.float64]
    chosen: NDArray[np.int64]
    frame_ap: NDArray[np.float64]
    rankings: tuple[Ranking, ...]
    rule: Rule


def pm_k_map(
    frames: SetFrames,
    truth: Truth,
    detections: Detections,
    ks: Sequence[int] = (0, 10),
    rule: Rule = COCO,
) -> PmKMap:
    """Score a detector on the anchors, and on the worst frame within k of each.

    Parameters
    ----------
    frames : SetFrames
        Of F frames, each in one set.
    truth : Truth
        Boxes of all frames, each frame's own.
    detections : Detections
    ks : sequence of int
    rule : Rule

    Returns
    -------
    PmKMap

    Notes
    -----
    Shankar et al., arXiv:1906.02168, section 3, which publishes no code: "similar frame that
    minimises AP" is made exact by the tie rule of :func:`worst_frames`, by frame averages over the
    classes that have a box in that frame, and by the anchor being one of the frames. All boxes
    are matched once; every k only chooses among frames. For the localisation variant, which
    chooses frames of its own, pass what :func:`merged_labels` gives.
    """
    n_frames = frames.set.size
    matched = match(truth, detections, rule)
    frame_ap = frame_average_precision(matched, n_frames, rule.interpolation)
    chosen = np.array([worst_frames(frames, frame_ap, k) for k in ks]).reshape(len(ks), -1)
    rankings = tuple(ranking_of(matched, own, n_frames) for own in chosen)
    value = [mean_average_precision(ranking, rule.interpolation) for ranking in rankings]
    return PmKMap(tuple(ks), np.array(value), chosen, frame_ap, rankings, rule)
