"""Anchors of one video are not independent: intervals that draw videos, with all their anchors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.results.measures.resampled import Means, Totals, resampled
from ops.results.measures.unit import Row, Unit


def by_video(
    unit: Unit,
    right: NDArray[np.bool_],
    whole: NDArray[np.bool_],
    clusters: NDArray[np.intp],
    k: int,
    variants: Mapping[str, str],
    **about: Any,
) -> list[Row]:
    """pm-0, pm-k, drop and flip rate with intervals over videos; none if each has one anchor.

    Parameters
    ----------
    unit : Unit
    right, whole : ndarray of bool, shape (A,)
        Whether each anchor is right, and all within k of it are.
    clusters : ndarray of int, shape (A,)
        The video of each anchor, numbered from 0.
    k : int
    variants : mapping of str to str
        The variant of each metric, of which these rows get one of their own.
    **about
        Fields of every row.
    """
    size = np.bincount(clusters)
    if size.max(initial=0) < 2:
        return []

    def total(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(clusters[mask], minlength=len(size))

    drop = right & ~whole
    # The flip rate is a ratio of two counts, as every mean here is.
    totals = {
        "pm0": (total(right), size),
        f"pm{k}": (total(whole), size),
        "pm_drop": (total(drop), size),
    }
    if right.any():
        totals["pm_flip_rate"] = total(drop), total(right)
    over = _means(unit, totals)
    rows = []
    for metric in totals:
        rows += _rows(over, metric, f"{variants[metric]}; by video", **about)
    return rows


def mean_over_anchors(
    unit: Unit,
    metric: str,
    variant: str,
    score: NDArray[np.float64],
    clusters: NDArray[np.intp],
    **about: Any,
) -> list[Row]:
    """The mean of a score of each anchor, shape (A,), with an interval over videos."""
    size = np.bincount(clusters)
    over = _means(unit, {metric: (np.bincount(clusters, score), size)})
    return _rows(over, metric, variant, **about)


def _means(
    unit: Unit, totals: Mapping[str, tuple[NDArray[np.number], NDArray[np.int64]]]
) -> Means[str]:
    total, size = (np.stack([pair[i] for pair in totals.values()], axis=1) for i in (0, 1))
    values = dict(zip(totals, total.sum(0) / size.sum(0), strict=True))
    return resampled(unit, values, Totals(tuple(totals), total, size))


def _rows(over: Means[str], metric: str, variant: str, **about: Any) -> list[Row]:
    condition = about.pop("condition", over.unit.runs[0].condition)
    rows = over.rows(metric, variant, condition, lambda means: means[metric], **about)
    for row in rows:
        row["ci_method"] = row["ci_method"].replace("source images", "videos")
    return rows
