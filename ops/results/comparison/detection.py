"""ImageNet-O: two models as detectors of images of unknown classes, on the same images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ops.metrics import keyed_generator
from ops.metrics.paired_detection import METHOD, paired_detection
from ops.results.comparison.flipped import SAMPLES, Flipped
from ops.results.comparison.quantities import OUTSIDE, VAL, Quantity
from ops.results.comparison.runs import Pairing
from ops.results.measures import outliers
from ops.results.measures.rows import Columns
from ops.results.runs import Run

if TYPE_CHECKING:
    import duckdb

TEST = "paired bootstrap"


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
    pairs = pairing.runs((OUTSIDE, VAL))
    sides = [
        tuple(zip(runs, outliers.rows(connection, *runs), strict=True))
        for runs in ([p.first for p in pairs], [p.second for p in pairs])
    ]
    known = [np.union1d(*(side[i][1]["sample_key"] for side in sides)) for i in range(2)]
    outside = np.repeat([True, False], [len(keys) for keys in known])
    if outside.all() or not outside.any():
        return
    keys = np.concatenate(known)
    for variant in dict.fromkeys(each.variant for each in group):
        own = [each for each in group if each.variant == variant]
        scores = [
            np.concatenate(
                [
                    _placed(run, variant, columns, names, worst)
                    for (run, columns), names, worst in zip(
                        side, known, (-np.inf, np.inf), strict=True
                    )
                ]
            )
            for side in sides
        ]
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
                    "ci_method": "none" if np.isnan(difference.lo) else METHOD,
                    "p": difference.p,
                    "p_method": TEST,
                    "n": len(outside),
                    "n_sources": len(outside),
                    "lost": None,
                    "gained": None,
                    "flipped": Flipped(samples=tuple(named)),
                },
            )


def _placed(
    run: Run, variant: str, columns: Columns, names: NDArray[np.str_], worst: float
) -> NDArray[np.float64]:
    """Scores in the order of `names`, sorted sample keys.

    An image that could not be read, or that this run has no row for, counts against the model.
    """
    found = np.full(len(names), worst)
    score = outliers.score(run.head, variant, columns)
    found[np.searchsorted(names, columns["sample_key"])] = np.where(np.isnan(score), worst, score)
    return found
