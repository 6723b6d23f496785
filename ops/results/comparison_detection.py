"""ImageNet-O: two models as detectors of images of unknown classes, on the same images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ops.metrics import keyed_generator
from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.metrics.paired_detection import METHOD, paired_detection
from ops.results.comparison_answers import only
from ops.results.comparison_flipped import SAMPLES, Flipped
from ops.results.comparison_quantities import OUTSIDE, VAL, Quantity
from ops.results.comparison_runs import Pairing

if TYPE_CHECKING:
    import duckdb

TEST = "paired bootstrap"

# Only the validation images of ImageNet-O's own 200 classes are negatives.
_SIDE = """
    SELECT dataset, sample_key, list_filter(masks, lambda m: m.mask = 'imagenet_o')[1] AS own
    FROM predictions AS p
    WHERE ({outside}) OR (({inside}) AND p.labels[1] IN (
        SELECT class_index FROM class_lists WHERE list = 'imagenet_o'
    ))
"""
_BOTH = """
    SELECT dataset, sample_key, {columns}
    FROM ({first}) AS x FULL JOIN ({second}) AS y USING (dataset, sample_key)
    ORDER BY dataset, sample_key
"""


def detection_differences(
    connection: duckdb.DuckDBPyConnection,
    pairing: Pairing,
    group: list[Quantity],
    alpha: float,
) -> Iterator[tuple[Quantity, dict[str, Any]]]:
    """Fields of a ``Difference`` for each quantity of ImageNet-O; none without negatives.

    There is no image that is right or wrong by itself: named are the images of ImageNet-O on which
    the second model is surer than the first, those it is surest of first.
    """
    columns = dict.fromkeys(OUTLIER_SCORES[each.variant][1] for each in group)
    pairs = pairing.runs((OUTSIDE, VAL))
    first, second = (
        _SIDE.format(outside=only([runs[0]]), inside=only([runs[1]]))
        for runs in ([p.first for p in pairs], [p.second for p in pairs])
    )
    asked = ", ".join(f"x.own.{c} AS first_{c}, y.own.{c} AS second_{c}" for c in columns)
    found = connection.execute(_BOTH.format(columns=asked, first=first, second=second)).fetchnumpy()
    outside = np.asarray(found["dataset"] == OUTSIDE, bool)
    if outside.all() or not outside.any():
        return
    keys = found["sample_key"]
    for variant in dict.fromkeys(each.variant for each in group):
        own = [each for each in group if each.variant == variant]
        formula, column = OUTLIER_SCORES[variant]
        scores = []
        for side in ("first", "second"):
            raw = np.ma.filled(np.ma.asarray(found[f"{side}_{column}"], np.float64), np.nan)
            # An image that could not be read counts against the model.
            worst = np.where(outside, -np.inf, np.inf)
            scores.append(np.where(np.isnan(raw), worst, formula(raw)))
        ids = sorted(run.run_id for p in pairs for run in (p.first, p.second))
        differences = paired_detection(
            outside,
            scores[0],
            scores[1],
            keyed_generator("imagenet_o, paired", *ids),
            metrics=tuple(each.metric for each in own),
            alpha=alpha,
        )
        surer = np.flatnonzero(outside & (scores[1] < scores[0]))
        named = keys[surer[np.argsort(scores[1][surer], kind="stable")]][:SAMPLES]
        for quantity in own:
            difference = differences[quantity.metric]
            yield (
                quantity,
                {
                    "first": difference.first,
                    "second": difference.second,
                    "lo": difference.lo,
                    "hi": difference.hi,
                    "ci_method": METHOD,
                    "p": difference.p,
                    "p_method": TEST,
                    "n": len(outside),
                    "n_sources": len(outside),
                    "lost": None,
                    "gained": None,
                    "flipped": Flipped(samples=tuple(named)),
                },
            )
