"""Calibration of each plain run: how far a model is from being right as often as it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ops.metrics import aurra, ece, rms_calib, rms_calib_legacy
from ops.metrics.rms_calib import BIN
from ops.results.measures.rows import rows_of
from ops.results.measures.source import Source
from ops.results.measures.unit import Row, Unit

_METRICS: Mapping[str, Callable[[NDArray[np.floating], NDArray[np.bool_]], float]] = {
    "rms_calib": rms_calib,
    "rms_calib_legacy": rms_calib_legacy,
    "ece": ece,
    "aurra": aurra,
}
_COLUMNS = """
    p.p_max, p.correct,
    coalesce(p.p_max_masked, 'nan') AS p_max_masked,
    coalesce(p.correct_masked, false) AS correct_masked
"""


def calibration(source: Source, units: list[Unit]) -> list[Row]:
    """RMS error as it should be and as it was published, ECE and AURRA; masked beside unmasked.

    An image that could not be read has no confidence and is left out: `n` counts the others.
    """
    rows = []
    for unit in units:
        columns = rows_of(
            source.connection,
            unit.runs[0],
            _COLUMNS,
            where="p.correct IS NOT NULL AND p.p_max IS NOT NULL",
        )
        rows += _variant(unit, "unmasked", columns["p_max"], columns["correct"])
        if unit.runs[0].mask is not None:
            known = ~np.isnan(columns["p_max_masked"])
            masked = (columns[name][known] for name in ("p_max_masked", "correct_masked"))
            rows += _variant(unit, "masked", *masked)
    return rows


def _variant(
    unit: Unit, variant: str, confidence: NDArray[np.floating], correct: NDArray[np.bool_]
) -> list[Row]:
    n = len(confidence)
    return [
        unit.row(name, variant, metric(confidence, correct), n=n)
        for name, metric in _METRICS.items()
        if n >= (BIN if metric is rms_calib_legacy else 1)
    ]
