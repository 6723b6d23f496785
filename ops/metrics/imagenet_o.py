"""The ImageNet-O protocol: detecting images of unknown classes, not classifying them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.metrics.auroc import auroc, auroc_from_counts
from ops.metrics.average_precision import average_precision, average_precision_from_counts
from ops.metrics.bootstrap import keyed_generator, stratified_bootstrap
from ops.metrics.fpr_at_recall import fpr_at_recall, fpr_from_counts


@dataclass(frozen=True)
class Detection:
    """Value and interval of one detection metric."""

    metric: str
    value: float
    ci_lo: float
    ci_hi: float
    ci_method: str
    n: int


def detection_metrics(
    outside: NDArray[np.floating],
    inside: NDArray[np.floating],
    *,
    key: str,
    resamples: int = 1000,
    alpha: float = 0.05,
) -> tuple[list[Detection], float]:
    """AUPR, AUROC and FPR95 of ImageNet-O, and the AUPR of chance.

    Parameters
    ----------
    outside : ndarray of float, shape (2000,)
        One of `OUTLIER_SCORES` for the ImageNet-O images (the positives), higher the more
        anomalous. NaN marks an image that could not be read.
    inside : ndarray of float, shape (10000,)
        The same for the **validation images of ImageNet-O's 200 classes** (the negatives), not
        for all 50,000.
    key : str
        Names what is measured (the run ids); seeds the resampling.

    Returns
    -------
    metrics : list of Detection
    chance : float
        AUPR of constant scores, the share of positives: 2,000 / 12,000 = 0.1667.

    Notes
    -----
    The benchmark's own score is :func:`ops.metrics.outlier_scores.max_softmax` over the 200
    masked classes. An unreadable image counts against the model, as in accuracy.
    """
    score = np.concatenate(
        [
            np.nan_to_num(np.asarray(outside, np.float64), nan=-np.inf),
            np.nan_to_num(np.asarray(inside, np.float64), nan=np.inf),
        ]
    )
    positive = np.arange(score.size) < len(outside)
    values = {
        "aupr": average_precision(positive, score),
        "auroc": auroc(positive, score),
        "fpr95": fpr_at_recall(positive, score),
    }
    intervals = stratified_bootstrap(
        positive,
        score,
        {
            "aupr": average_precision_from_counts,
            "auroc": auroc_from_counts,
            "fpr95": fpr_from_counts,
        },
        keyed_generator("imagenet_o", key),
        resamples=resamples,
        alpha=alpha,
    )
    method = f"stratified bootstrap percentile, {resamples} resamples"
    found = [
        Detection(name, value, *intervals[name], ci_method=method, n=score.size)
        for name, value in values.items()
    ]
    return found, float(positive.mean())
