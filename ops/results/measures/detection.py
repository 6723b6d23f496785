"""ImageNet-O: its run together with the same model's run on the clean validation images."""

from __future__ import annotations

import numpy as np

from ops.metrics import detection_metrics
from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.results.measures import outliers
from ops.results.measures.rows import Columns
from ops.results.measures.source import Source
from ops.results.measures.unit import ALPHA, Row, Unit


def detection(source: Source, units: list[Unit]) -> list[Row]:
    """AUPR with the level of chance beside it, AUROC and FPR95; first run is ImageNet-O's."""
    rows = []
    for unit in units:
        positive, negative = outliers.rows(source.connection, *unit.runs)
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
        outliers.score(run.head, variant, columns)
        for run, columns in zip(unit.runs, (outside, inside), strict=True)
    ]
    found, _ = detection_metrics(*scores, key=" ".join(unit.run_ids), alpha=ALPHA)
    return [
        unit.row(each.metric, variant, each.value, n=each.n)
        if np.isnan(each.ci_lo)
        else unit.row(
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
