"""ImageNet-O: its run together with the same model's run on the clean validation images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ops.metrics import detection_metrics
from ops.results.measures.unit import ALPHA, Row, Unit

if TYPE_CHECKING:
    import duckdb

_OUTSIDE = """
    SELECT p_max_masked FROM predictions
    WHERE benchmark = 'imagenet_o' AND model = $model AND run_id = $run_id
    ORDER BY sample_key
"""
# Only the validation images of ImageNet-O's own 200 classes are negatives.
_INSIDE = """
    SELECT list_filter(p.masks, lambda m: m.mask = 'imagenet_o')[1].p_max
    FROM predictions AS p
    JOIN class_lists AS c ON c.list = 'imagenet_o' AND c.class_index = p.labels[1]
    WHERE p.benchmark = 'imagenet_1k' AND p.condition = 'val'
        AND p.model = $model AND p.run_id = $run_id
    ORDER BY p.sample_key
"""
_VARIANTS = {"aupr": "step-wise", "auroc": "max softmax", "fpr95": "max softmax"}


def detection(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """AUPR with the level of chance beside it, AUROC and FPR95; first run is ImageNet-O's."""
    rows = []
    for unit in units:
        outside, inside = (
            _scores(connection, sql, unit.model, run.run_id)
            for sql, run in zip((_OUTSIDE, _INSIDE), unit.runs, strict=True)
        )
        if not len(outside) or not len(inside):
            # Without negatives there is no detection to measure, for example on a few classes.
            continue
        found, chance = detection_metrics(outside, inside, key=" ".join(unit.run_ids), alpha=ALPHA)
        rows.append(unit.row("aupr", "chance", chance, n=found[0].n, k=len(outside)))
        for each in found:
            rows.append(
                unit.row(
                    each.metric,
                    _VARIANTS[each.metric],
                    each.value,
                    n=each.n,
                    ci_lo=each.ci_lo,
                    ci_hi=each.ci_hi,
                    ci_method=each.ci_method,
                )
            )
    return rows


def _scores(
    connection: duckdb.DuckDBPyConnection, sql: str, model: str, run_id: str
) -> NDArray[np.float64]:
    found = connection.execute(sql, {"model": model, "run_id": run_id}).fetchall()
    return np.array([np.nan if p is None else p for (p,) in found], np.float64)
