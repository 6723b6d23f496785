"""ImageNet-C and MiniImageNet-C: errors over all corruptions of one model on one set."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ops.metrics import (
    Normaliser,
    alexnet_errors,
    ce_pct,
    ce_severity_5_pct,
    corruptions_15,
    corruptions_19,
    mce_pct,
    mce_severity_5_pct,
    mean_error_pct,
    relative_ce_pct,
    relative_mce_pct,
)
from ops.metrics.corruption import SEVERITIES
from ops.results.inventory import Run
from ops.results.measures.cells import CLEAN, Cell, by_corruption, cell_of
from ops.results.measures.cells import measured as measured_cells
from ops.results.measures.resampled import Means
from ops.results.measures.source import CLEAN_IMAGES, Source, pair
from ops.results.measures.unit import Row, Unit


def imagenet_c(source: Source, units: list[Unit]) -> list[Row]:
    """Errors by corruption and severity, and what each is over AlexNet and own normalisers."""
    rows = []
    for measured in _measured(source, units):
        rows += _unnormalised(measured)
        rows += _over(measured, alexnet_errors(), "alexnet", "alexnet_pct")
        for runs in measured.unit.normalisers:
            over = _errors_by(source, runs, measured.sources)
            rows += _over(measured, over, f"over {runs[0].model}", "pct", runs)
    return rows


def mini_imagenet_c(source: Source, units: list[Unit]) -> list[Row]:
    """Mean error of the 15 at severity 5, and their CE over AlexNet's severity 5."""
    rows = []
    for measured in _measured(source, units):
        rows += _by_severity(measured, (5,))
        rows += _over_severity_5(measured, alexnet_errors(), "alexnet severity 5", "alexnet_pct")
        for runs in measured.unit.normalisers:
            over = _errors_by(source, runs, measured.sources)
            rows += _over_severity_5(measured, over, f"over {runs[0].model}", "pct", runs)
    return rows


def _measured(source: Source, units: list[Unit]) -> Iterator[Means[Cell]]:
    return measured_cells(source, [(unit, _cells(unit.runs)) for unit in units])


def _cells(runs: tuple[Run, ...]) -> dict[Cell, Run]:
    return {CLEAN if run.dataset == CLEAN_IMAGES else cell_of(run.condition): run for run in runs}


def _has(measured: Means[Cell], names: tuple[str, ...], severities: tuple[int, ...]) -> bool:
    return all((name, severity) in measured.values for name in names for severity in severities)


def _unnormalised(measured: Means[Cell]) -> list[Row]:
    rows = []
    for name in corruptions_19():
        rows += _mean(measured, "mean_err_pct", "unnormalised", name, (name,), SEVERITIES)
    for metric, names in (
        ("mean_err_15_pct", corruptions_15()),
        ("mean_err_19_pct", corruptions_19()),
    ):
        rows += _mean(measured, metric, "unnormalised", "all", names, SEVERITIES)
    return rows + _by_severity(measured, SEVERITIES)


def _by_severity(measured: Means[Cell], severities: tuple[int, ...]) -> list[Row]:
    rows = []
    for s in severities:
        rows += _mean(measured, "mean_err_15_pct", f"severity {s}", "all", corruptions_15(), (s,))
    return rows


def _mean(
    measured: Means[Cell],
    metric: str,
    variant: str,
    condition: str,
    names: tuple[str, ...],
    severities: tuple[int, ...],
) -> list[Row]:
    if not _has(measured, names, severities):
        return []
    return measured.rows(
        metric,
        variant,
        condition,
        lambda e: mean_error_pct(by_corruption(e, names, severities), names),
    )


def _over(
    measured: Means[Cell],
    over: Normaliser,
    variant: str,
    suffix: str,
    normaliser: tuple[Run, ...] = (),
) -> list[Row]:
    """CE and relative CE of each corruption, mCE and relative mCE."""
    rows, names = [], corruptions_15()
    for name in corruptions_19():
        rows += _over_of_one(measured, name, over, variant, suffix, normaliser)
    if not _has(measured, names, SEVERITIES) or not over.mean.keys() >= set(names):
        return rows
    rows += measured.rows(
        f"mce_{suffix}",
        variant,
        "all",
        lambda e: mce_pct(by_corruption(e, names, SEVERITIES), over),
        normaliser=normaliser,
    )
    if CLEAN in measured.values:
        rows += measured.rows(
            f"relative_mce_{suffix}",
            variant,
            "all",
            lambda e: relative_mce_pct(by_corruption(e, names, SEVERITIES), e[CLEAN], over),
            normaliser=normaliser,
        )
    return rows


def _over_of_one(
    measured: Means[Cell],
    name: str,
    over: Normaliser,
    variant: str,
    suffix: str,
    normaliser: tuple[Run, ...],
) -> list[Row]:
    if not _has(measured, (name,), SEVERITIES) or name not in over.mean:
        return []
    rows = measured.rows(
        f"ce_{suffix}",
        variant,
        name,
        lambda e: ce_pct(name, by_corruption(e, (name,), SEVERITIES)[name], over),
        normaliser=normaliser,
    )
    if CLEAN in measured.values:
        rows += measured.rows(
            f"relative_ce_{suffix}",
            variant,
            name,
            lambda e: relative_ce_pct(
                name, by_corruption(e, (name,), SEVERITIES)[name], e[CLEAN], over
            ),
            normaliser=normaliser,
        )
    return rows


def _over_severity_5(
    measured: Means[Cell],
    over: Normaliser,
    variant: str,
    suffix: str,
    normaliser: tuple[Run, ...] = (),
) -> list[Row]:
    rows, names = [], corruptions_15()
    for name in names:
        rows += _over_severity_5_of_one(measured, name, over, variant, suffix, normaliser)
    if _has(measured, names, (5,)) and over.by_severity.keys() >= set(names):
        rows += measured.rows(
            f"mce_severity_5_{suffix}",
            variant,
            "all",
            lambda e: mce_severity_5_pct(by_corruption(e, names, (5,)), over),
            normaliser=normaliser,
        )
    return rows


def _over_severity_5_of_one(
    measured: Means[Cell],
    name: str,
    over: Normaliser,
    variant: str,
    suffix: str,
    normaliser: tuple[Run, ...],
) -> list[Row]:
    if (name, 5) not in measured.values or name not in over.by_severity:
        return []
    return measured.rows(
        f"ce_severity_5_{suffix}",
        variant,
        name,
        lambda e: ce_severity_5_pct(name, e[name, 5], over),
        normaliser=normaliser,
    )


def _errors_by(
    source: Source, runs: tuple[Run, ...], sources: NDArray[np.str_] | None
) -> Normaliser:
    """Errors of a model of one's own, for as many corruptions as it was run on.

    Of its clean images, those named by `sources`; all of them where that is None.
    """
    errors, cells = source.errors(runs), _cells(runs)
    own = {cell: errors[pair(run)].value for cell, run in cells.items() if pair(run) in errors}
    if sources is not None and CLEAN in own:
        clean = source.wrong(cells[CLEAN])
        source.known.wrong[pair(cells[CLEAN])] = clean
        wrong = clean.wrong[np.isin(clean.sources, sources)]
        own[CLEAN] = float(wrong.mean()) if len(wrong) == len(sources) else math.nan
    by_severity = {
        name: [own.get((name, severity), math.nan) for severity in SEVERITIES]
        for name in sorted({name for name, severity in own if severity})
    }
    return Normaliser(
        clean=own.get(CLEAN, math.nan),
        mean={n: float(np.mean(by)) for n, by in by_severity.items() if not np.isnan(by).any()},
        by_severity=by_severity,
    )
