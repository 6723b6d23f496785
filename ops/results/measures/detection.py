"""ImageNet-O: its run together with the same model's run on the clean validation images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ops.metrics import detection_metrics
from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.results.measures.rows import Columns, rows_of
from ops.results.measures.unit import ALPHA, Row, Unit

if TYPE_CHECKING:
    import duckdb

# NaN where an image could not be read.
_MASK = "list_filter(p.masks, lambda m: m.mask = 'imagenet_o')[1]"
_COLUMNS = ", ".join(
    f"coalesce({_MASK}.{name}, 'nan') AS {name}" for name in ("p_max", "max_logit", "logsumexp")
)
# Only the validation images of ImageNet-O's own 200 classes are negatives.
_KNOWN = "JOIN class_lists AS c ON c.list = 'imagenet_o' AND c.class_index = p.labels[1]"


def detection(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """AUPR with the level of chance beside it, AUROC and FPR95; first run is ImageNet-O's."""
    rows = []
    outside = rows_of(connection, [unit.runs[0] for unit in units], _COLUMNS)
    inside = rows_of(connection, [unit.runs[1] for unit in units], _COLUMNS, join=_KNOWN)
    for unit, positive, negative in zip(units, outside, inside, strict=True):
        n_out, n_in = len(positive["p_max"]), len(negative["p_max"])
        if not n_out or not n_in:
            # Without negatives there is no detection to measure, for example on a few classes.
            continue
        chance = n_out / (n_out + n_in)
        rows.append(unit.row("aupr", "chance", chance, k=n_out, n=n_out + n_in))
        for variant in OUTLIER_SCORES:
            rows += _metrics(unit, variant, positive, negative)
    return rows


def _metrics(unit: Unit, variant: str, outside: Columns, inside: Columns) -> list[Row]:
    scores = [
        _score(run.head, variant, c) for run, c in zip(unit.runs, (outside, inside), strict=True)
    ]
    found, _ = detection_metrics(*scores, key=" ".join(unit.run_ids), alpha=ALPHA)
    return [
        unit.row(
            each.metric,
            variant,
            each.value,
            n=each.n,
            ci_lo=each.ci_lo,
            ci_hi=each.ci_hi,
            ci_method=each.ci_method,
        )
        for each in found
    ]


def _score(head: str, variant: str, columns: Columns) -> NDArray[np.float64]:
    score, name = OUTLIER_SCORES[variant]
    if variant == "max softmax" and head == "sigmoid":
        # Such a model's p_max is a sigmoid.
        return score(np.exp(columns["max_logit"].astype(np.float64) - columns["logsumexp"]))
    return score(columns[name])
