"""ImageNet-P: flip probabilities and top-5 distances of one model on one set of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from ops.metrics import flips, mean_over_10, top5_distance
from ops.metrics.flips import PERTURBATIONS_10
from ops.metrics.frame_pairs import Reference
from ops.results.inventory import Run
from ops.results.measures.cells import clustered_row
from ops.results.measures.unit import Row, Unit

if TYPE_CHECKING:
    import duckdb

_TOP = [f"coalesce(top5_idx[{rank}], -1) AS top{rank}" for rank in range(1, 6)]

# One number a sequence, and the photographs they are of; both in the order of the photographs.
Scores = tuple[NDArray[np.float64], tuple[str, ...]]


def imagenet_p(connection: duckdb.DuckDBPyConnection, units: list[Unit]) -> list[Row]:
    """Flip probability and unnormalised T5D of each perturbation, and their means over the 10."""
    rows = []
    for unit in units:
        flipped: dict[str, Scores] = {}
        moved: dict[str, Scores] = {}
        for run in unit.runs:
            if run.frames is None or run.frame_reference is None:
                continue
            found = _scores(connection, unit.model, run, run.frames)
            flipped[run.condition], moved[run.condition] = found
            variant = f"relative to {run.frame_reference}"
            for metric, (score, _) in zip(("flip_probability", "ut5d"), found, strict=True):
                value = float(np.mean(score))
                rows.append(clustered_row(unit, metric, variant, value, score, run.condition))
        rows += _mean_of_10(unit, "mean_flip_probability_10", flipped)
        rows += _mean_of_10(unit, "mean_ut5d_10", moved)
    return rows


def _scores(
    connection: duckdb.DuckDBPyConnection, model: str, run: Run, frames: int
) -> tuple[Scores, Scores]:
    which = """
        FROM predictions
        WHERE model = $model AND run_id = $run_id AND benchmark = $benchmark
            AND condition = $condition
    """
    about = {"model": model, "run_id": run.run_id}
    about |= {"benchmark": run.benchmark, "condition": run.condition}
    found = connection.execute(
        f"SELECT coalesce(pred, -1) AS pred, {', '.join(_TOP)} {which} "
        "ORDER BY frame_set, frame_offset",
        about,
    ).fetchnumpy()
    sources = [
        source
        for (source,) in connection.execute(
            f"SELECT source_key {which} AND frame_offset = 0 ORDER BY frame_set", about
        ).fetchall()
    ]
    reference = cast(Reference, run.frame_reference)
    pred = found["pred"].reshape(-1, frames)
    top5 = np.stack([found[f"top{rank}"] for rank in range(1, 6)], axis=-1)
    # In the order of the photographs, so that perturbations can be added, to the last bit alike.
    order = np.argsort(np.array(sources), kind="stable")
    names = tuple(sources[i] for i in order)
    changed = flips(pred, reference)[order] / (frames - 1)
    distance = top5_distance(top5.reshape(-1, frames, 5), reference)[order] / (frames - 1)
    return (changed, names), (distance, names)


def _mean_of_10(unit: Unit, metric: str, scores: dict[str, Scores]) -> list[Row]:
    if not set(PERTURBATIONS_10) <= set(scores):
        return []
    ten = [scores[name] for name in PERTURBATIONS_10]
    value = mean_over_10({name: float(np.mean(scores[name][0])) for name in PERTURBATIONS_10})
    sources = {names for _, names in ten}
    if len(sources) > 1 or len(set(ten[0][1])) < len(ten[0][1]):
        # Of other photographs, or several of one: which cluster a sequence is in is not known.
        return [unit.row(metric, "unnormalised", value, condition="all")]
    score = np.mean([score for score, _ in ten], axis=0)
    return [clustered_row(unit, metric, "unnormalised", value, score, "all")]
