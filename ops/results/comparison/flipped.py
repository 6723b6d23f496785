"""Which classes and images a model has lost against another, from their answers side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.results.comparison.quantities import Quantity
from ops.results.comparison.runs import Pairing
from ops.results.sql_text import quoted

if TYPE_CHECKING:
    import duckdb

CLASSES = 10
SAMPLES = 50

_CLASSES = """
    SELECT label AS class_index, name, count(*) AS n,
        count(*) FILTER (WHERE wrong_first < wrong_second) AS lost,
        count(*) FILTER (WHERE wrong_first > wrong_second) AS gained
    FROM answers LEFT JOIN class_lists AS c ON c.list = $list AND c.class_index = label
    WHERE dataset IN ({datasets}) AND label IS NOT NULL
    GROUP BY label, name HAVING lost > 0
    ORDER BY lost DESC, gained, label LIMIT {limit}
"""
_SAMPLES = """
    SELECT dataset, image FROM answers
    WHERE dataset IN ({datasets}) AND wrong_first < wrong_second
    ORDER BY p_second DESC NULLS LAST, dataset, image LIMIT {limit}
"""


@dataclass(frozen=True)
class Flipped:
    """What was lost.

    Parameters
    ----------
    classes : tuple of dict
        class_index, name, n, lost, gained; those with most lost first.
    samples : tuple of str
        Sample keys (anchors, sequences), those first of which the second model is surest. Where a
        quantity is over several conditions, the condition and a blank stand before the key.
    """

    classes: tuple[dict[str, Any], ...] = ()
    samples: tuple[str, ...] = ()


NOTHING_FLIPPED = Flipped()


def flipped(connection: duckdb.DuckDBPyConnection, pairing: Pairing, quantity: Quantity) -> Flipped:
    """Classes and images lost, out of the temporary table ``answers``."""
    datasets = ", ".join(quoted(name) for name in quantity.counted)
    space = pairing.pairs[quantity.datasets[0]].second.label_space
    answer = connection.execute(_CLASSES.format(datasets=datasets, limit=CLASSES), {"list": space})
    names = [column[0] for column in answer.description or []]
    classes = tuple(dict(zip(names, row, strict=True)) for row in answer.fetchall())
    rows = connection.execute(_SAMPLES.format(datasets=datasets, limit=SAMPLES)).fetchall()
    several = len(quantity.counted) > 1
    samples = (f"{d.partition('/')[2]} {key}" if several else key for d, key in rows)
    return Flipped(classes, tuple(samples))
