"""ImageNet-C and MiniImageNet-C: errors over all corruptions of one model on one set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.metrics import corruption as formulas
from ops.results.measures.cells import Cell, Cells, cell_of, errors_of
from ops.results.measures.unit import Row, Unit

if TYPE_CHECKING:
    import duckdb

# The clean images, which relative mCE needs beside the corrupted ones.
CLEAN = "imagenet_1k/val"


def imagenet_c(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Errors by corruption and severity, the means of 15 and 19, mCE and relative mCE."""
    rows = []
    for unit in units:
        measured = _measured(connection, unit)
        rows += _by_corruption(measured) + _by_severity(measured) + _means(measured)
        rows += _relative(connection, measured)
    return rows


def mini_imagenet_c(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Mean error of the 15 at severity 5, and their CE over AlexNet's severity 5."""
    rows = []
    names, alexnet = formulas.corruptions_15(), formulas.alexnet_errors().by_severity
    for unit in units:
        measured = _measured(connection, unit)
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


def _measured(connection: duckdb.DuckDBPyConnection, unit: Unit) -> Cells:
    runs = {cell_of(run.condition): run for run in unit.runs if run.dataset != CLEAN}
    return Cells(connection, unit, runs)


def _by_corruption(measured: Cells) -> list[Row]:
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


def _by_severity(measured: Cells) -> list[Row]:
    rows, names = [], formulas.corruptions_15()
    for severity in formulas.SEVERITIES:
        error = measured.mean(names, (severity,))
        if error is not None:
            value = formulas.mean_error_pct(error, names)
            even = _even(names, (severity,))
            variant = f"severity {severity}"
            rows.append(measured.row("mean_err_15_pct", variant, value, even, "all"))
    return rows


def _means(measured: Cells) -> list[Row]:
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


def _relative(connection: duckdb.DuckDBPyConnection, measured: Cells) -> list[Row]:
    error = measured.mean(formulas.corruptions_15(), formulas.SEVERITIES)
    clean = next((run for run in measured.unit.runs if run.dataset == CLEAN), None)
    if error is None or clean is None:
        return []
    errors = errors_of(connection, measured.unit, {("clean", 0): clean})
    value = formulas.relative_mce_alexnet_pct(error, errors["clean", 0])
    return [measured.unit.row("relative_mce_alexnet_pct", "alexnet", value, condition="all")]


def _even(names: tuple[str, ...], severities: tuple[int, ...]) -> dict[Cell, float]:
    share = 100 / len(names) / len(severities)
    return {(name, severity): share for name in names for severity in severities}
