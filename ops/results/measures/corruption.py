"""ImageNet-C and MiniImageNet-C: errors over all corruptions of one model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ops.metrics import clustered_interval
from ops.metrics import corruption as formulas
from ops.metrics.clustered import METHOD
from ops.results.measures.unit import ALPHA, Row, Unit, run_filter

if TYPE_CHECKING:
    import duckdb

# Bits in one BIGINT; two of them hold the 95 cells of ImageNet-C.
_BITS = 48

# Corruption and severity to top-1 error in [0, 1].
Errors = dict[tuple[str, int], float]
Weights = Mapping[tuple[str, int], float]


class _Measured:
    """Errors of one model, and the wrong answers of every source image."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, unit: Unit, benchmark: str) -> None:
        self.unit = unit
        self.errors = _errors(connection, unit, benchmark)
        self._cells = sorted(self.errors)
        self._wrong = _wrong_by_source(connection, unit, benchmark, self._cells)

    def mean(self, names: tuple[str, ...], severities: tuple[int, ...]) -> dict[str, float] | None:
        """Mean error of each corruption over `severities`; None if any cell is missing."""
        if any((name, s) not in self.errors for name in names for s in severities):
            return None
        return {name: float(np.mean([self.errors[name, s] for s in severities])) for name in names}

    def row(self, metric: str, variant: str, value: float, weights: Weights, condition: str) -> Row:
        """A row whose interval resamples source images: `weights` are those of one wrong cell."""
        if self._wrong is None:
            return self.unit.row(metric, variant, value, condition=condition)
        own = np.array([weights.get(cell, 0.0) for cell in self._cells])
        # Not a matrix product: BLAS may add in another order on the next call.
        score = (self._wrong * own).sum(axis=1)
        mean, lo, hi = clustered_interval(score, ALPHA)
        if math.isnan(lo):
            return self.unit.row(metric, variant, value, condition=condition, n=len(score))
        return self.unit.row(
            metric,
            variant,
            value,
            condition=condition,
            n=len(score),
            # About the value itself, which differs from the mean of scores by rounding.
            ci_lo=value + (lo - mean),
            ci_hi=value + (hi - mean),
            ci_method=METHOD,
        )


def imagenet_c(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Errors by corruption and severity, the means of 15 and 19, mCE and relative mCE."""
    rows = []
    for unit in units:
        measured = _Measured(connection, unit, "imagenet_c")
        rows += _by_corruption(measured) + _by_severity(measured) + _means(measured)
        rows += _relative(connection, measured)
    return rows


def mini_imagenet_c(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Mean error of the 15 at severity 5, and their CE over AlexNet's severity 5."""
    rows = []
    names, alexnet = formulas.corruptions_15(), formulas.alexnet_errors().by_severity
    for unit in units:
        measured = _Measured(connection, unit, "mini_imagenet_c")
        error = measured.mean(names, (5,))
        if error is None:
            continue
        value = formulas.mean_error_pct(error, names)
        even = _even(names, (5,))
        rows.append(measured.row("mean_err_15_pct", "severity 5", value, even, "all"))
        value = formulas.mce_severity_5_alexnet_pct(error)
        over = {(name, 5): 100 / 15 / alexnet[name][4] for name in names}
        variant = "alexnet severity 5"
        rows.append(measured.row("mce_severity_5_alexnet_pct", variant, value, over, "all"))
    return rows


def _by_corruption(measured: _Measured) -> list[Row]:
    rows = []
    for name in formulas.corruptions_19():
        error = measured.mean((name,), formulas.SEVERITIES)
        if error is None:
            continue
        even = _even((name,), formulas.SEVERITIES)
        value = formulas.mean_error_pct(error, (name,))
        rows.append(measured.row("mean_err_pct", "unnormalised", value, even, name))
        value = formulas.ce_alexnet_pct(name, error[name])
        over = {cell: w / formulas.alexnet_errors().mean[name] for cell, w in even.items()}
        rows.append(measured.row("ce_alexnet_pct", "alexnet", value, over, name))
    return rows


def _by_severity(measured: _Measured) -> list[Row]:
    rows, names = [], formulas.corruptions_15()
    for severity in formulas.SEVERITIES:
        error = measured.mean(names, (severity,))
        if error is not None:
            value = formulas.mean_error_pct(error, names)
            even = _even(names, (severity,))
            variant = f"severity {severity}"
            rows.append(measured.row("mean_err_15_pct", variant, value, even, "all"))
    return rows


def _means(measured: _Measured) -> list[Row]:
    rows = []
    for metric, names in (
        ("mean_err_15_pct", formulas.corruptions_15()),
        ("mean_err_19_pct", formulas.corruptions_19()),
    ):
        error = measured.mean(names, formulas.SEVERITIES)
        if error is not None:
            value, even = formulas.mean_error_pct(error, names), _even(names, formulas.SEVERITIES)
            rows.append(measured.row(metric, "unnormalised", value, even, "all"))
    error = measured.mean(formulas.corruptions_15(), formulas.SEVERITIES)
    if error is not None:
        value = formulas.mce_alexnet_pct(error)
        alexnet = formulas.alexnet_errors().mean
        over = {(n, s): 100 / 75 / alexnet[n] for n in error for s in formulas.SEVERITIES}
        rows.append(measured.row("mce_alexnet_pct", "alexnet", value, over, "all"))
    return rows


def _relative(connection: duckdb.DuckDBPyConnection, measured: _Measured) -> list[Row]:
    error = measured.mean(formulas.corruptions_15(), formulas.SEVERITIES)
    clean = _errors(connection, measured.unit, "imagenet_1k")
    if error is None or not clean:
        return []
    value = formulas.relative_mce_alexnet_pct(error, next(iter(clean.values())))
    return [measured.unit.row("relative_mce_alexnet_pct", "alexnet", value, condition="all")]


def _even(names: tuple[str, ...], severities: tuple[int, ...]) -> dict[tuple[str, int], float]:
    share = 100 / len(names) / len(severities)
    return {(name, severity): share for name in names for severity in severities}


def _errors(connection: duckdb.DuckDBPyConnection, unit: Unit, benchmark: str) -> Errors:
    found = connection.execute(
        f"""
        SELECT condition, 1 - k / n FROM counts
        WHERE benchmark = $benchmark AND model = $model AND run_id IN ({run_filter([unit])})
            AND metric = 'top1' AND variant = 'unmasked'
        """,
        {"benchmark": benchmark, "model": unit.model},
    ).fetchall()
    return {_cell(condition): error for condition, error in found}


def _wrong_by_source(
    connection: duckdb.DuckDBPyConnection,
    unit: Unit,
    benchmark: str,
    cells: list[tuple[str, int]],
) -> NDArray[np.float64] | None:
    """Wrong answers, shape (source images, cells); None where the cells' images differ.

    Every cell has a bit of its own, so that millions of rows become one pass that sets bits:
    a column a cell took ten times as long.
    """
    if not cells:
        return None
    bits = [(1 << i, 0) if i < _BITS else (0, 1 << (i - _BITS)) for i in range(len(cells))]
    values = ", ".join(
        f"('{name}/{severity}', {low}::BIGINT, {high}::BIGINT)"
        for (name, severity), (low, high) in zip(cells, bits, strict=True)
    )
    found = connection.execute(
        f"""
        SELECT count(*) AS renderings, bit_or(low) AS low, bit_or(high) AS high,
            bit_or(CASE WHEN correct IS NOT true THEN low ELSE 0 END) AS wrong_low,
            bit_or(CASE WHEN correct IS NOT true THEN high ELSE 0 END) AS wrong_high
        FROM predictions
        JOIN (VALUES {values}) AS cells (condition, low, high) USING (condition)
        WHERE benchmark = $benchmark AND model = $model AND run_id IN ({run_filter([unit])})
        GROUP BY source_key ORDER BY source_key
        """,
        {"benchmark": benchmark, "model": unit.model},
    ).fetchnumpy()
    all_low, all_high = (sum(side) for side in zip(*bits, strict=True))
    once = found["renderings"] == len(cells)
    if not (once & (found["low"] == all_low) & (found["high"] == all_high)).all():
        return None
    wrong = [found["wrong_low"], found["wrong_high"]]
    return np.stack(
        [(wrong[i // _BITS] >> (i % _BITS)) & 1 for i in range(len(cells))], axis=1
    ).astype(np.float64)


def _cell(condition: str) -> tuple[str, int]:
    name, _, severity = condition.rpartition("/")
    return (name, int(severity)) if severity.isdigit() else (condition, 0)
