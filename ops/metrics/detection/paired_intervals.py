"""Intervals of detection pm-k: whole videos are drawn, with their anchors and worst frames.

Clopper and Pearson's interval is of a share of independent sets; a mean average precision is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.bootstrap import keyed_generator
from ops.metrics.detection.mean_ap import resampled_mean_ap
from ops.metrics.detection.pm_k_map import PmKMap
from ops.metrics.percentile_interval import percentile_interval

RESAMPLES = 1_000
METHOD = f"paired bootstrap over videos, {RESAMPLES:,} resamples"

Interval = tuple[float, float]


@dataclass(frozen=True)
class Intervals:
    """Of the value at every k, and of how far it lies below that of the first k.

    Attributes
    ----------
    value, drop : tuple of (float, float)
        One a k; NaN where resamples do not differ.
    """

    value: tuple[Interval, ...]
    drop: tuple[Interval, ...]


def draws_of_sets(video: NDArray[np.integer], resamples: int = RESAMPLES) -> NDArray[np.uint16]:
    """How often each set is in each resample.

    Parameters
    ----------
    video : ndarray of int, shape (S,)
        Sets of one video have one number: they are drawn together, since they resemble each other.
    resamples : int

    Returns
    -------
    ndarray of uint16, shape (resamples, S)
        Depends on the number of videos alone, so that detectors over the same sets share it.
    """
    _, which = np.unique(video, return_inverse=True)
    count = 1 + int(which.max(initial=-1))
    if not count:
        return np.zeros((resamples, 0), np.uint16)
    generator = keyed_generator("detection pm-k", str(count))
    drawn = generator.integers(0, count, size=(resamples, count))
    drawn += np.arange(resamples)[:, None] * count
    times = np.bincount(drawn.reshape(-1), minlength=resamples * count)
    return times.reshape(resamples, count).astype(np.uint16)[:, which]


def paired_intervals(scores: PmKMap, times: NDArray[np.integer], alpha: float = 0.05) -> Intervals:
    """Percentile intervals of a detector's scores and of its drop.

    Parameters
    ----------
    scores : PmKMap
        Its first k is what the drop is taken from, usually 0.
    times : ndarray of int, shape (B, S)
        From :func:`draws_of_sets`; one draw serves all values, so that the drop is paired.
    alpha : float
        One minus the confidence.

    Returns
    -------
    Intervals

    Notes
    -----
    A frame stays its set's worst in every resample, so nothing is matched or chosen again: only
    the averaging is repeated.
    """
    found: dict[bytes, NDArray[np.float64]] = {}
    values = []
    for chosen, ranking in zip(scores.chosen, scores.rankings, strict=True):
        # Often the next k changes no set's worst frame.
        key = chosen.tobytes()
        if key not in found:
            found[key] = resampled_mean_ap(ranking, times, scores.rule.interpolation)
        values.append(found[key])
    return Intervals(
        value=tuple(percentile_interval(each, alpha) for each in values),
        drop=tuple(percentile_interval(values[0] - each, alpha) for each in values),
    )
