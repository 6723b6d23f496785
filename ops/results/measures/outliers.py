"""ImageNet-O: the rows that are told apart, and the outlier scores of one model on them.

The table of metrics and the comparison of two models both read and score here, so that they
measure the same quantity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.results.inventory import Run
from ops.results.measures.rows import Columns, rows_of

if TYPE_CHECKING:
    import duckdb

# The masked logits of ImageNet-O's own 200 classes; NaN where an image could not be read.
_MASK = "list_filter(p.masks, lambda m: m.mask = 'imagenet_o')[1]"
_COLUMNS = ", ".join(
    ["p.sample_key"]
    + [f"coalesce({_MASK}.{name}, 'nan') AS {name}" for name in ("p_max", "max_logit", "logsumexp")]
)
# Only the validation images of ImageNet-O's own 200 classes are negatives.
_KNOWN = "JOIN class_lists AS c ON c.list = 'imagenet_o' AND c.class_index = p.labels[1]"


def scores(
    connection: duckdb.DuckDBPyConnection, run: Run, val_run: Run, variant: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outlier scores of the positives and of the negatives, each by `sample_key`.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        With the view ``predictions`` and the table ``class_lists``.
    run, val_run : Run
        One model's run on ImageNet-O, and its run on the validation images.
    variant : str
        One of `ops.metrics.outlier_scores.OUTLIER_SCORES`.

    Returns
    -------
    outside, inside : ndarray of float64, shape (2000,) and (10000,)
        Higher is more anomalous; NaN where an image could not be read.
    """
    outside, inside = rows(connection, run, val_run)
    return score(run.head, variant, outside), score(val_run.head, variant, inside)


def rows(connection: duckdb.DuckDBPyConnection, run: Run, val_run: Run) -> tuple[Columns, Columns]:
    """What every score is computed from, of the positives and of the negatives.

    Returns
    -------
    outside, inside : dict of str to ndarray
        ``sample_key`` and, NaN where an image could not be read, the masked ``p_max``,
        ``max_logit`` and ``logsumexp``; in the order of ``sample_key``.
    """
    return rows_of(connection, run, _COLUMNS), rows_of(connection, val_run, _COLUMNS, join=_KNOWN)


def score(head: str, variant: str, columns: Columns) -> NDArray[np.float64]:
    """One score of every row, higher the more anomalous.

    Parameters
    ----------
    head : str
        ``softmax`` or ``sigmoid``: what ``p_max`` is a probability of.
    variant : str
        One of `ops.metrics.outlier_scores.OUTLIER_SCORES`.
    columns : dict of str to ndarray
        As :func:`rows` gives them.
    """
    formula, name = OUTLIER_SCORES[variant]
    if variant == "max softmax" and head == "sigmoid":
        # Such a model's p_max is a sigmoid.
        logit = np.asarray(columns["max_logit"], np.float64)
        return formula(np.exp(logit - columns["logsumexp"]))
    return formula(columns[name])
