"""One quantity of two models, from their answers side by side: values, interval, test, flips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import frexp, ldexp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ops.metrics.clustered_mcnemar import clustered_mcnemar
from ops.metrics.error_consistency import error_consistency
from ops.metrics.mcnemar import mcnemar
from ops.metrics.paired_bootstrap import FEW_METHOD, METHOD, paired_bootstrap
from ops.metrics.paired_difference import METHOD as TANGO
from ops.metrics.paired_difference import paired_difference
from ops.results.comparison.answers import lay_side_by_side
from ops.results.comparison.detection import detection_differences
from ops.results.comparison.flipped import NOTHING_FLIPPED, Flipped, flipped
from ops.results.comparison.quantities import Quantity
from ops.results.comparison.runs import Pairing
from ops.results.sql_text import quoted

if TYPE_CHECKING:
    import duckdb

EXACT_TEST = "exact McNemar"
CLUSTERED_TEST = "clustered McNemar"

# Raised when a definition changes, so that the numbers of a gate are computed again.
DEFINITIONS = "3"

# Bits of a weight's sum over one source image: with 2 ** 12 images more, still exact in a double.
_BITS = 40


class Kappa(NamedTuple):
    """Error consistency of two models with its interval; None where nothing can be told."""

    value: float | None
    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Difference:
    """One quantity of two models.

    Parameters
    ----------
    quantity : Quantity
    first, second : float
        Values, in the unit of the metric.
    lo, hi : float
        Interval of ``second - first``.
    ci_method, p_method : str
    p : float
        Two-sided, of no difference.
    n, n_sources : int
        Images (anchors, sequences), and the source images they are of.
    lost, gained : int or None
        Images on which the second model alone is wrong (flips more often), and on which the first
        is; None where no image is right or wrong by itself.
    kappa : Kappa or None
        How far both err on the same images; None where several rows are of one image.
    flipped : Flipped
        Classes and images that were lost, where asked for.
    """

    quantity: Quantity
    first: float
    second: float
    lo: float
    hi: float
    ci_method: str
    p: float
    p_method: str
    n: int
    n_sources: int
    lost: int | None
    gained: int | None
    kappa: Kappa | None = None
    flipped: Flipped = NOTHING_FLIPPED


def differences(
    connection: duckdb.DuckDBPyConnection,
    pairing: Pairing,
    wanted: Iterable[Quantity],
    *,
    alpha: float = 0.05,
    named: bool = False,
) -> list[Difference]:
    """Compare two models in every quantity for which both have what it needs.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        With the views over the root the pairing was made from.
    pairing : Pairing
    wanted : iterable of Quantity
        Those of which a dataset has no pair are left out.
    alpha : float
        One minus the confidence of the intervals.
    named : bool
        Whether to name the classes and images that were lost.

    Returns
    -------
    list of Difference
        In the order of `wanted`, those left out that have no image to compare.
    """
    wanted = [each for each in wanted if set(each.datasets) <= pairing.pairs.keys()]
    found: dict[Quantity, Difference] = {}
    for group in _groups(wanted):
        answer = group[0].answer
        datasets = dict.fromkeys(name for each in group for name in each.datasets)
        if answer == "outlier":
            for quantity, values in detection_differences(connection, pairing, group, alpha):
                found[quantity] = Difference(quantity, **values)
            continue
        against = {name for each in group for name in each.against}
        lay_side_by_side(connection, answer, pairing.runs(datasets), against)
        for each in _measured(connection, group, alpha):
            more = flipped(connection, pairing, each.quantity) if named else NOTHING_FLIPPED
            found[each.quantity] = Difference(**{**vars(each), "flipped": more})
    return [found[each] for each in wanted if each in found]


def _groups(wanted: Sequence[Quantity]) -> list[list[Quantity]]:
    """Quantities that are counted from one table of answers."""
    groups: dict[tuple[str, str], list[Quantity]] = {}
    for each in wanted:
        groups.setdefault((each.benchmark, each.answer), []).append(each)
    return list(groups.values())


class _Count(NamedTuple):
    """What one dataset adds up to."""

    n: int
    sources: int
    out_of: int
    first: int
    second: int
    lost: int
    gained: int
    # Rows of one source image, and times each can be wrong.
    rows: int
    times: int

    @property
    def plain(self) -> bool:
        """Whether every row is an image of its own that is right or wrong."""
        return self.times == 1 and self.n == self.sources


def _measured(
    connection: duckdb.DuckDBPyConnection, group: list[Quantity], alpha: float
) -> list[Difference]:
    counts = _counts(connection)
    group = [each for each in group if set(each.datasets) <= counts.keys()]
    plain = [each for each in group if len(each.weights) == 1 and counts[each.datasets[0]].plain]
    clustered = [each for each in group if each not in plain]
    found = _plain(plain, counts, alpha) if plain else []
    if clustered:
        found += _clustered(connection, clustered, counts, alpha)
    return found


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, _Count]:
    rows = connection.execute(
        """
        SELECT dataset, sum(n), count(*), sum(out_of), sum(first), sum(second), sum(lost),
            sum(gained), max(n), max(times)
        FROM (
            SELECT dataset, source_key, count(*) AS n, sum(out_of) AS out_of,
                sum(wrong_first) AS first, sum(wrong_second) AS second,
                count(*) FILTER (WHERE wrong_first < wrong_second) AS lost,
                count(*) FILTER (WHERE wrong_first > wrong_second) AS gained,
                max(out_of) AS times
            FROM answers GROUP BY dataset, source_key
        )
        GROUP BY dataset
        """
    ).fetchall()
    return {name: _Count(*(int(value) for value in values)) for name, *values in rows}


def _values(quantity: Quantity, counts: dict[str, _Count]) -> tuple[float, float]:
    if len(quantity.weights) == 1 and (quantity.base, quantity.weights[0][1]) == (1, -1):
        # As every other table has a share, to the last bit.
        count = counts[quantity.datasets[0]]
        n = count.out_of
        return (n - count.first) / n, (n - count.second) / n
    first = second = quantity.base
    for name, weight in quantity.weights:
        count = counts[name]
        first += weight * count.first / count.out_of
        second += weight * count.second / count.out_of
    return first, second


def _plain(group: list[Quantity], counts: dict[str, _Count], alpha: float) -> list[Difference]:
    """Right or wrong of one image each: binomial, and exact."""
    own = [counts[each.datasets[0]] for each in group]
    lost, gained, n = (
        np.array([getattr(count, name) for count in own]) for name in ("lost", "gained", "n")
    )
    # By this much the share of wrong answers changes, and with its weight, the metric.
    ends = np.stack(paired_difference(gained, lost, n, alpha), axis=1)
    ends = np.sort(ends * np.array([[each.weights[0][1]] for each in group]), axis=1)
    first_wrong = np.array([count.first for count in own])
    errors = error_consistency(n - first_wrong - lost, lost, gained, first_wrong - gained, alpha)
    kappas = np.stack([errors.kappa, errors.lo, errors.hi], axis=1).tolist()
    found = []
    for quantity, count, (lo, hi), p, kappa in zip(
        group, own, ends.tolist(), mcnemar(lost, gained).tolist(), kappas, strict=True
    ):
        first, second = _values(quantity, counts)
        found.append(
            Difference(
                quantity,
                first,
                second,
                lo=lo,
                hi=hi,
                ci_method=TANGO,
                p=p,
                p_method=EXACT_TEST,
                n=count.n,
                n_sources=count.n,
                lost=count.lost,
                gained=count.gained,
                kappa=Kappa(*(None if np.isnan(each) else each for each in kappa)),
            )
        )
    return found


def _clustered(
    connection: duckdb.DuckDBPyConnection,
    group: list[Quantity],
    counts: dict[str, _Count],
    alpha: float,
) -> list[Difference]:
    difference, span = _by_source(connection, group, counts)
    lo, hi, few = paired_bootstrap(difference, span, alpha)
    found = []
    for i, quantity in enumerate(group):
        own = [counts[name] for name in quantity.datasets]
        first, second = _values(quantity, counts)
        found.append(
            Difference(
                quantity,
                first,
                second,
                lo=float(lo[i]),
                hi=float(hi[i]),
                ci_method=FEW_METHOD if few[i] else METHOD,
                p=clustered_mcnemar(difference[:, i]),
                p_method=CLUSTERED_TEST,
                n=sum(count.n for count in own),
                n_sources=len(difference),
                lost=sum(counts[name].lost for name in quantity.counted),
                gained=sum(counts[name].gained for name in quantity.counted),
            )
        )
    return found


def _by_source(
    connection: duckdb.DuckDBPyConnection, group: list[Quantity], counts: dict[str, _Count]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Differences by source image, shape (M, K), and the most that one can contribute to each.

    Their mean over the source images is the difference of the two values. The sums are of whole
    numbers: DuckDB adds in any order.
    """
    datasets = list(dict.fromkeys(name for each in group for name in each.datasets))
    names = ", ".join(quoted(name) for name in datasets)
    (total,) = connection.execute(
        f"SELECT count(DISTINCT source_key) FROM answers WHERE dataset IN ({names})"
    ).fetchone() or (0,)
    weights = np.zeros((len(datasets), len(group)))
    for column, quantity in enumerate(group):
        for name, weight in quantity.weights:
            weights[datasets.index(name), column] = weight * total / counts[name].out_of
    most = np.array([counts[name].rows * counts[name].times for name in datasets], np.float64)
    bounds = (np.abs(weights) * most[:, None]).sum(axis=0)
    units = np.array([ldexp(1.0, frexp(bound)[1] - _BITS) for bound in bounds])
    whole = np.rint(weights / units).astype(np.int64)
    values = ", ".join(
        f"({quoted(name)}, {', '.join(f'{w}::BIGINT' for w in row)})"
        for name, row in zip(datasets, whole.tolist(), strict=True)
    )
    columns = range(len(group))
    sums = ", ".join(
        f"sum(w{i} * (wrong_second - wrong_first))::BIGINT AS d{i}, "
        f"sum(abs(w{i}) * out_of)::BIGINT AS s{i}"
        for i in columns
    )
    weighed = ", ".join(f"w{i}" for i in columns)
    found = connection.execute(
        f"""
        SELECT source_key, {sums}
        FROM answers JOIN (VALUES {values}) AS weights (dataset, {weighed}) USING (dataset)
        GROUP BY source_key ORDER BY source_key
        """
    ).fetchnumpy()
    difference = np.stack([np.asarray(found[f"d{i}"], np.float64) for i in columns], axis=1)
    span = np.array([float(np.max(found[f"s{i}"])) for i in columns])
    return difference * units, span * units
