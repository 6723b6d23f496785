"""ImageNet-P: what moves between the frames of a sequence, of one model on one set of sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ops.metrics import (
    flips,
    mean_over_10,
    mean_over_normaliser_pct,
    over_normaliser_pct,
    top5_distance,
)
from ops.metrics.flips import PERTURBATIONS_10
from ops.metrics.frame_pairs import Reference
from ops.results.inventory import Run
from ops.results.measures.resampled import Means, Totals, resampled
from ops.results.measures.rows import OF_RUN, named
from ops.results.measures.source import Source, pair
from ops.results.measures.unit import Row, Unit

# The metric of one perturbation, and that of the mean over the 10.
_MEANS = {
    "flip_probability": "mean_flip_probability_10",
    "ut5d": "mean_ut5d_10",
    "uzipf": "mean_uzipf_10",
}
# The same over an AlexNet of one's own.
_OVER = {"flip_probability": ("fr_pct", "mfr_pct"), "ut5d": ("t5d_pct", "mt5d_pct")}

# Zipf distances are added as whole numbers of this many to one: in that way no order of rows
# changes a sum. A float32 between 4 and 8 has steps half as fine.
_ZIPF = 1 << 20

# Perturbation and metric.
Moved = tuple[str, str]

_SUMS = f"""
    SELECT source_key, count(flipped) AS pairs, count_if(flipped) AS flips,
        sum(top5_distance)::BIGINT AS distance, count(zipf_distance) AS ranked,
        coalesce(sum(round(zipf_distance::DOUBLE * {_ZIPF})::BIGINT), 0)::BIGINT AS zipf
"""
_FROM = f"FROM predictions AS p WHERE {OF_RUN}"
_TOP = ", ".join(f"coalesce(top5_idx[{rank}], -1) AS top{rank}" for rank in range(1, 6))


def imagenet_p(source: Source, units: list[Unit]) -> list[Row]:
    """Flip probability, T5D and Zipf distance of each perturbation, their means, and mFR, mT5D."""
    rows = []
    # Sequences of an AlexNet are read once, whatever the number of models over it.
    normalisers = source.known.moved
    for unit in units:
        moved = _measured(source, unit)
        rows += _unnormalised(moved)
        for runs in unit.normalisers:
            over: dict[Moved, float] = {}
            for run in runs:
                if pair(run) not in normalisers:
                    normalisers[pair(run)] = _values(_totals(source, [run]))
                over |= normalisers[pair(run)]
            rows += _over(moved, over, runs)
    return rows


def _measured(source: Source, unit: Unit) -> Means[Moved]:
    table = _totals(source, unit.runs)
    return resampled(unit, _values(table), table)


def _unnormalised(moved: Means[Moved]) -> list[Row]:
    rows = []
    for metric, mean in _MEANS.items():
        for run in moved.unit.runs:
            variant = f"relative to {run.frame_reference}"
            rows += _row(moved, metric, variant, (run.condition, metric))
        if _ten(moved.values, metric):
            rows += _row_of_10(moved, mean, metric)
    return rows


def _row(moved: Means[Moved], metric: str, variant: str, key: Moved) -> list[Row]:
    if key not in moved.values:
        return []
    return moved.rows(metric, variant, key[0], lambda v: v[key])


def _row_of_10(moved: Means[Moved], mean: str, metric: str) -> list[Row]:
    return moved.rows(mean, "unnormalised", "all", lambda v: mean_over_10(_by_name(v, metric)))


def _over(moved: Means[Moved], over: Mapping[Moved, float], runs: tuple[Run, ...]) -> list[Row]:
    rows = []
    for metric, (one, mean) in _OVER.items():
        for run in moved.unit.runs:
            rows += _row_over(moved, one, (run.condition, metric), over, runs)
        if _ten(moved.values, metric) and _ten(over, metric):
            rows += _row_of_10_over(moved, mean, metric, over, runs)
    return rows


def _row_over(
    moved: Means[Moved],
    metric: str,
    key: Moved,
    over: Mapping[Moved, float],
    runs: tuple[Run, ...],
) -> list[Row]:
    if key not in moved.values or key not in over:
        return []
    return moved.rows(
        metric,
        f"over {runs[0].model}",
        key[0],
        lambda v: over_normaliser_pct(v[key], over[key]),
        normaliser=runs,
    )


def _row_of_10_over(
    moved: Means[Moved],
    mean: str,
    metric: str,
    over: Mapping[Moved, float],
    runs: tuple[Run, ...],
) -> list[Row]:
    own = {name: over[name, metric] for name in PERTURBATIONS_10}
    return moved.rows(
        mean,
        f"over {runs[0].model}",
        "all",
        lambda v: mean_over_normaliser_pct(_by_name(v, metric), own),
        normaliser=runs,
    )


def _ten(values: Mapping[Moved, float], metric: str) -> bool:
    return all((name, metric) in values for name in PERTURBATIONS_10)


def _by_name(values: Mapping[Moved, ArrayLike], metric: str) -> dict[str, ArrayLike]:
    return {name: values[name, metric] for name in PERTURBATIONS_10}


def _values(table: Totals[Moved]) -> dict[Moved, float]:
    sums, sizes = table.total.sum(axis=0), table.size.sum(axis=0)
    return {key: float(a / b) for key, a, b in zip(table.columns, sums, sizes, strict=True)}


def _totals(source: Source, runs: Sequence[Run]) -> Totals[Moved]:
    """Flips and distances of every photograph, over the pairs of frames of all its sequences."""
    found = {
        run.condition: _sums(source, run) for run in runs if run.frames and run.frame_reference
    }
    names = [each["source_key"].astype(str) for each in found.values()]
    sources = np.unique(np.concatenate(names)) if names else np.empty(0, str)
    columns: list[Moved] = []
    totals: list[NDArray[np.float64]] = []
    sizes: list[NDArray[np.float64]] = []
    for condition, sums in found.items():
        place = np.searchsorted(sources, sums["source_key"].astype(str))
        for metric, total, size in (
            ("flip_probability", sums["flips"], sums["pairs"]),
            ("ut5d", sums["distance"], sums["pairs"]),
            ("uzipf", sums["zipf"] / _ZIPF, sums["ranked"]),
        ):
            if size.any():
                columns.append((condition, metric))
                for values, own in ((totals, total), (sizes, size)):
                    whole = np.zeros(len(sources))
                    whole[place] = own
                    values.append(whole)
    empty = np.zeros((len(sources), 0))
    return Totals(
        tuple(columns),
        np.stack(totals, axis=1) if totals else empty,
        np.stack(sizes, axis=1) if sizes else empty,
    )


def _sums(source: Source, run: Run) -> dict[str, NDArray[Any]]:
    about = named(run)
    found = source.connection.execute(
        f"{_SUMS} {_FROM} GROUP BY source_key ORDER BY source_key", about
    ).fetchnumpy()
    if found["pairs"].any():
        return found
    # Rows of an older release, in which frames were not yet compared as they were predicted.
    return _compared(source, run, about)


def _compared(source: Source, run: Run, about: dict[str, str]) -> dict[str, NDArray[Any]]:
    frames, reference = cast(int, run.frames), cast(Reference, run.frame_reference)
    found = source.connection.execute(
        f"SELECT source_key, coalesce(pred, -1) AS pred, {_TOP} {_FROM} "
        "ORDER BY source_key, frame_set, frame_offset",
        about,
    ).fetchnumpy()
    sources, which = np.unique(found["source_key"][::frames].astype(str), return_inverse=True)
    top5 = np.stack([found[f"top{rank}"] for rank in range(1, 6)], axis=-1)
    moved = {
        "flips": flips(found["pred"].reshape(-1, frames), reference),
        "distance": top5_distance(top5.reshape(-1, frames, 5), reference),
        "pairs": np.full(len(which), frames - 1),
    }
    nothing = np.zeros(len(sources), np.int64)
    return {
        "source_key": sources,
        "zipf": nothing,
        "ranked": nothing,
        **{k: np.bincount(which, v, len(sources)).astype(np.int64) for k, v in moved.items()},
    }
