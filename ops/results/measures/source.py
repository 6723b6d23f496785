"""What the metrics of one model are read from: a connection that holds the files of few runs.

A connection over a whole lake plans every query over every file of it, which thousands of models
make slow. So each model has a connection of its own; what several models are divided by is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ops.results.inventory import Run
from ops.results.measures.rows import rows_of

if TYPE_CHECKING:
    import duckdb

    from ops.results.measures.video_frames import SeenFrames
    from ops.results.measures.video_reviewed import Reviewed

# The clean images, which relative mCE needs beside the corrupted ones.
CLEAN_IMAGES = "imagenet_1k/val"

# Model and run id.
Pair = tuple[str, str]


class Count(NamedTuple):
    """A row of the view ``counts``."""

    model: str
    run_id: str
    benchmark: str
    condition: str
    metric: str
    variant: str
    k: int
    n: int


class Error(NamedTuple):
    """Top-1 error of a run in [0, 1], over `n` expected images."""

    value: float
    n: int


class Wrong(NamedTuple):
    """Images of a run in the order of their names, and which of them are wrong."""

    sources: NDArray[np.str_]
    wrong: NDArray[np.bool_]


@dataclass
class Known:
    """What is known beyond one model: of AlexNets that several are measured over, and of frames.

    `runs` are those whose files need not be held again.
    """

    runs: set[Pair] = field(default_factory=set)
    errors: dict[Pair, Error] = field(default_factory=dict)
    wrong: dict[Pair, Wrong] = field(default_factory=dict)
    # By perturbation and metric.
    moved: dict[Pair, dict[tuple[str, str], float]] = field(default_factory=dict)
    # By name and version of a dataset of frame sets, mined or reviewed.
    frames: dict[tuple[str, str], SeenFrames] = field(default_factory=dict)
    reviewed: dict[tuple[str, str], Reviewed] = field(default_factory=dict)

    def has(self, run: Run) -> bool:
        """Whether nothing of a run needs to be read again; its clean images, once asked for."""
        return pair(run) in (self.wrong if run.dataset == CLEAN_IMAGES else self.runs)


@dataclass
class Source:
    """A connection, and what has been read through it."""

    connection: duckdb.DuckDBPyConnection
    known: Known = field(default_factory=Known)
    _counts: dict[str, list[Count]] = field(default_factory=dict)
    _errors: dict[Pair, Error] = field(default_factory=dict)

    def counts(self, model: str) -> list[Count]:
        """Every count of every run of a model that is held, in one pass over its rows."""
        if model not in self._counts:
            found = self.connection.execute(
                f"SELECT {', '.join(Count._fields)} FROM counts "
                "WHERE model = $model AND k IS NOT NULL",
                {"model": model},
            ).fetchall()
            self._counts[model] = [Count(*row) for row in found]
        return self._counts[model]

    def errors(self, runs: Iterable[Run]) -> dict[Pair, Error]:
        """Top-1 error of runs; a run without labels is left out."""
        wanted = {pair(run) for run in runs}
        for model in sorted({model for model, _ in wanted - self.known.runs}):
            for count in self.counts(model):
                if (count.metric, count.variant) == ("top1", "unmasked"):
                    error = Error(1 - count.k / count.n, count.n)
                    self._errors[count.model, count.run_id] = error
        every = self.known.errors | self._errors
        return {own: every[own] for own in wanted if own in every}

    def wrong(self, run: Run) -> Wrong:
        """Which images of a run are wrong, by their source keys."""
        if (found := self.known.wrong.get(pair(run))) is None:
            columns = rows_of(self.connection, run, "p.source_key, p.correct IS NOT true AS wrong")
            names = columns["source_key"].astype(str)
            order = np.argsort(names, kind="stable")
            found = Wrong(names[order], columns["wrong"][order].astype(bool))
        return found

    def keep(self, runs: Iterable[Run]) -> None:
        """Keep the errors of runs that other models are measured over."""
        for run, error in ((run, self._errors.get(pair(run))) for run in runs):
            if error is not None:
                self.known.errors[pair(run)] = error
            self.known.runs.add(pair(run))


def pair(run: Run) -> Pair:
    """Model and run id: two names of the same weights share their run ids."""
    return run.model, run.run_id
