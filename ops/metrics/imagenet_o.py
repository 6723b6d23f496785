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
    p_max_out: NDArray[np.floating],
    p_max_in: NDArray[np.floating],
    *,
    key: str,
    resamples: int = 1000,
    alpha: float = 0.05,
) -> tuple[list[Detection], float]:
    """AUPR, AUROC and FPR95 of ImageNet-O, and the AUPR of chance.

    Parameters
    ----------
    p_max_out : ndarray of float, shape (2000,)
        Largest softmax probability over the 200 masked logits, for the ImageNet-O images (the
        positives). NaN marks an image that could not be read.
    p_max_in : ndarray of float, shape (10000,)
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
    The score is minus the largest masked probability (natural-adv-examples,
    ``eval_many_models.py``). An unreadable image counts against the model, as in accuracy.
    """
    score = np.concatenate(
        [
            np.nan_to_num(-np.asarray(p_max_out, np.float64), nan=-np.inf),
            np.nan_to_num(-np.asarray(p_max_in, np.float64), nan=np.inf),
        ]
    )
    positive = np.arange(score.size) < len(p_max_out)
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
