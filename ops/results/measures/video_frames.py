"""The frames a model was run on, in sets: read once, since thousands of models saw the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.metrics.pm_k_index import FrameSetIndex
from ops.metrics.pm_k_neighbours import random_neighbours
from ops.metrics.pm_k_subsets import (
    FRAME_RATES,
    PICTURE_TYPES,
    every_nth,
    of_rate,
    within_seconds,
    without_type,
)
from ops.results.inventory import Run
from ops.results.measures.rows import rows_of
from ops.results.measures.source import Source
from ops.video.datasets import MINED
from ops.video.published import video_of

# Every second and every fifth frame: a video of 30 frames a second as it were at 15 and at 6.
_STEPS = {2: "every 2nd frame", 5: "every 5th frame"}

_SETS = "p.sample_key, p.frame_set, p.frame_offset, p.source_key"

# The k of the published sets, and the largest that a score of a whole set is of.
FURTHEST = 10


@dataclass(frozen=True)
class Coding:
    """What is known of each frame beside its place, by place in the arrays of scores.

    Attributes
    ----------
    pict_type : ndarray of str
        Empty where it is not known.
    dt, fps : ndarray of float64
        Seconds from the anchor, and frames a second of the video; NaN where not known.
    """

    pict_type: NDArray[np.object_]
    dt: NDArray[np.float64]
    fps: NDArray[np.float64]

    def subsets(self, index: FrameSetIndex) -> dict[str, FrameSetIndex]:
        """The frames of `index` by how they were coded and when."""
        found = {}
        if (self.pict_type != "").any():
            for kind in PICTURE_TYPES:
                found[f"without {kind}-frames"] = index.keep(without_type(self.pict_type, kind))
        if not np.isnan(self.dt).all():
            found["within 1/3 s"] = index.keep(within_seconds(self.dt))
        for rates in FRAME_RATES:
            found[rates.name] = index.keep(of_rate(self.fps, rates))
        return found


@dataclass(frozen=True)
class SeenFrames:
    """The frames of one dataset, sorted by sample key; arrays of scores have this order.

    Attributes
    ----------
    sample_key : ndarray of str, shape (N,)
    index : FrameSetIndex
    video : ndarray of int, shape (N,)
        Which video a frame is of.
    k : int
        What was mined around each anchor, 10 at most: the k of every score of whole sets.
    coding : Coding or None
        None where nothing is known: official sets name frames and no more.
    """

    sample_key: NDArray[np.object_]
    index: FrameSetIndex
    video: NDArray[np.intp]
    k: int
    coding: Coding | None

    def of(self, kept: NDArray[np.bool_]) -> SeenFrames:
        """Some of the frames, by place; the places stay."""
        return replace(self, index=self.index.keep(kept))

    @cached_property
    def subsets(self) -> dict[str, FrameSetIndex]:
        """Some of the frames, by a name that says which; an empty one is left out."""
        found = {name: every_nth(self.index, step) for step, name in _STEPS.items()}
        if self.coding is not None:
            found |= self.coding.subsets(self.index)
        return {name: index for name, index in found.items() if index.n}

    @cached_property
    def drawn(self) -> NDArray[np.intp]:
        """A random neighbour of each anchor, as a place."""
        return random_neighbours(self.index, self.sample_key, self.k)

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The video of each anchor, numbered from 0, shape (A,)."""
        anchors = self.index.rows[self.index.starts]
        return np.unique(self.video[anchors], return_inverse=True)[1]


@dataclass(frozen=True)
class Answers:
    """One model's answers to frames.

    Attributes
    ----------
    seen : SeenFrames
    correct : ndarray of bool, shape (N,)
    pred : ndarray of int, shape (N,)
        -1 where a frame could not be read.
    """

    seen: SeenFrames
    correct: NDArray[np.bool_]
    pred: NDArray[np.int64]


def answers_of(source: Source, run: Run) -> Answers:
    """The answers of a run to the frames of its dataset.

    Raises
    ------
    ShiftlakeError
        If a frame has no row: that is no wrong answer, nor none at all.
    """
    columns = rows_of(
        source.connection,
        run,
        "p.sample_key, coalesce(p.correct, false) AS correct, coalesce(p.pred, -1) AS pred",
        where="p.frame_set IS NOT NULL",
    )
    keys = columns["sample_key"]
    if len(keys) != run.n_expected:
        raise ShiftlakeError(
            "Frames have no prediction.",
            expected=f"{run.n_expected:,} frames",
            found=f"{len(keys):,} rows",
            where=f"{run.model} on {run.dataset}, run {run.run_id}",
            remedy="evaluate it again: whole shards are kept",
        )
    name = run.dataset, run.dataset_version
    seen = source.known.frames.get(name)
    # Two shards swapped, or a run of another layout of the same version.
    if seen is None or not np.array_equal(seen.sample_key, keys):
        seen = source.known.frames[name] = _seen(source, run)
    return Answers(seen, columns["correct"].astype(bool), columns["pred"].astype(np.int64))


def _seen(source: Source, run: Run) -> SeenFrames:
    rows = rows_of(source.connection, run, _SETS, where="p.frame_set IS NOT NULL")
    keys, which = np.unique(rows["source_key"].astype(str), return_inverse=True)
    videos = np.array([video_of(run.benchmark, key) for key in keys.tolist()], np.str_)
    index = FrameSetIndex.of(rows["frame_set"].astype(str), rows["frame_offset"])
    is_mined = run.benchmark == MINED
    return SeenFrames(
        rows["sample_key"],
        index,
        np.unique(videos, return_inverse=True)[1][which],
        min(_mined_k(source, run, index), FURTHEST) if is_mined else FURTHEST,
        _coding(source, run) if is_mined else None,
    )


def _mined_k(source: Source, run: Run, index: FrameSetIndex) -> int:
    """How far was mined; of a mining that is no longer sealed, how far there are frames."""
    found = source.connection.execute(
        "SELECT TRY_CAST(parameters ->> '$.k' AS INTEGER) FROM datasets "
        "WHERE dataset = $dataset AND version = $version",
        {"dataset": run.dataset, "version": run.dataset_version},
    ).fetchone()
    return index.reach if found is None or found[0] is None else int(found[0])


def _coding(source: Source, run: Run) -> Coding | None:
    rows = rows_of(
        source.connection,
        run,
        "coalesce(f.pict_type, '') AS pict_type, coalesce(f.dt, 'nan'::DOUBLE) AS dt, "
        "coalesce(f.fps, 'nan'::DOUBLE) AS fps",
        where="p.frame_set IS NOT NULL",
        join="LEFT JOIN (SELECT sample_key, pict_type, dt, fps FROM frames "
        "WHERE source = $condition AND mined_version = $version) AS f USING (sample_key)",
        version=run.dataset_version,
    )
    if (rows["pict_type"] == "").all() and np.isnan(rows["fps"]).all():
        return None
    return Coding(rows["pict_type"], rows["dt"], rows["fps"])
