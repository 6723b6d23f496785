"""Which models are drawn in colour, and in which: the same ones in every figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ops.errors import ShiftlakeError
from ops.report import style

if TYPE_CHECKING:
    import duckdb

MOST = len(style.COLOURS)


@dataclass(frozen=True)
class Cast:
    """The models of a report.

    Parameters
    ----------
    models : tuple of str
        All that were measured on the benchmarks of ImageNet or of video, best first.
    chosen : tuple of str
        Those in colour, best first.
    ranked_by : str
        What best means, in words.
    given : bool
        Whether a person chose them.
    """

    models: tuple[str, ...]
    chosen: tuple[str, ...]
    ranked_by: str
    given: bool = False

    @property
    def crowded(self) -> bool:
        """Whether there are more models than colours."""
        return len(self.models) > len(self.chosen)

    def among(self, models: Sequence[str]) -> Cast:
        """The same cast; of others where none of its models is among these."""
        if set(self.models) & set(models):
            return self
        return Cast(tuple(models), tuple(models[:MOST]), "name")

    def colour(self, model: str) -> str:
        """Its colour; grey for one of the crowd."""
        return style.COLOURS[self.chosen.index(model)] if model in self.chosen else style.CROWD

    def marker(self, model: str) -> str:
        """Its marker; a dot for one of the crowd."""
        return style.MARKERS[self.chosen.index(model)] if model in self.chosen else "o"

    def said(self) -> str:
        """One sentence on who is in colour."""
        if not self.crowded:
            return ""
        how = "chosen by name" if self.given else f"from best to worst by {self.ranked_by}"
        return f"{len(self.chosen)} of {len(self.models):,} models are in colour, {how}."


def cast_of(connection: duckdb.DuckDBPyConnection, chosen: Sequence[str] | None = None) -> Cast:
    """The models that have metrics, ranked, and eight of them to draw in colour.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    chosen : sequence of str, optional
        The models to draw in colour, at most eight. By default all, or eight evenly from the best
        to the worst.

    Raises
    ------
    ShiftlakeError
        If a chosen model has no results, or there are too many.
    """
    ranked = connection.execute(
        """
        SELECT model,
            max(value) FILTER (WHERE benchmark = 'imagenetv2'
                AND condition = 'matched_frequency') AS v2,
            max(value) FILTER (WHERE benchmark = 'imagenet_1k' AND condition = 'val') AS val,
            max(value) FILTER (WHERE metric = 'pm0') AS anchors
        FROM metrics
        WHERE (metric IN ('top1', 'pm0') AND variant IN ('unmasked', 'masked', 'with anchor')
                OR metric = 'mean_flip_probability_10')
            AND (benchmark LIKE '%imagenet%'
                OR benchmark IN ('ytbb_robust', 'frame_sets', 'reviewed_frame_sets'))
        GROUP BY model
        ORDER BY v2 DESC NULLS LAST, val DESC NULLS LAST, anchors DESC NULLS LAST, model
        """
    ).fetchall()
    models = tuple(row[0] for row in ranked)
    by = "accuracy on ImageNetV2" if any(row[1] is not None for row in ranked) else "accuracy"
    if chosen is not None:
        unknown = [name for name in chosen if name not in models]
        if unknown or len(chosen) > MOST:
            raise ShiftlakeError(
                "These models cannot all be drawn in colour.",
                expected=f"at most {MOST} models that have results",
                found=", ".join(unknown or chosen),
                where="the report",
                remedy="shiftlake model list shows the names",
            )
        return Cast(models, tuple(name for name in models if name in chosen), by, given=True)
    if len(models) <= MOST:
        return Cast(models, models, by)
    at = np.unique(np.linspace(0, len(models) - 1, MOST).round().astype(int))
    return Cast(models, tuple(models[i] for i in at), by)
