"""Anchors that a model has right, each beside the nearest frame around it that it has wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ops.report.cast import Cast
from ops.report.figures.video_panels import strides
from ops.report.names import ClassNames
from ops.report.pictures import Wanted

if TYPE_CHECKING:
    import duckdb

# How much is shown, of the models that come first among those in colour.
MODELS = 3
PAIRS = 6
# Largest side of a picture in pixels: twice as many as it is shown with.
SIDE = 240


class Shown(NamedTuple):
    """One of the two frames: where it lies, what it was taken for, and how sure the model was."""

    wanted: Wanted
    said: str
    p_max: float | None


class Flip(NamedTuple):
    """An anchor and the frame that flips a model.

    Attributes
    ----------
    model, benchmark, condition, frame_set : str
    label : str
        What the flipped frame shows, in words.
    offset : int
        Of that frame from the anchor, in frames of the video.
    anchor, frame : Shown
    """

    model: str
    benchmark: str
    condition: str
    frame_set: str
    label: str
    offset: int
    anchor: Shown
    frame: Shown

    @property
    def away(self) -> str:
        """How far the frame is from the anchor, in words."""
        return f"{self.offset:+d} frame{'s' * (abs(self.offset) != 1)}".replace("-", "−")


def flips_of(connection: duckdb.DuckDBPyConnection, model: str, most: int = PAIRS) -> list[Flip]:
    """The flips of a model that it was surest about, both times.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    model : str
    most : int
        Flips at most, one of each video.

    Returns
    -------
    list of Flip
        Of a reviewed source the frames that people accepted, and no others.
    """
    sets = _sets(connection, model)
    if not sets:
        return []
    listed = ", ".join("(?, ?)" for _ in sets)
    rows = connection.execute(
        f"""
        SELECT s.benchmark, s.condition, s.frame_set, s.run_id, n.frame_offset, n.labels,
            a.sample_key, a.pred, a.p_max, n.sample_key, n.pred, n.p_max
        FROM pmk_sets AS s
        JOIN pmk_frames AS a USING (model, benchmark, condition, run_id, frame_set)
        JOIN pmk_frames AS n USING (model, benchmark, condition, run_id, frame_set)
        WHERE s.model = ? AND a.model = ? AND n.model = ? AND s.first_flip <= 10
            AND (s.benchmark, s.condition) IN ({listed})
            AND a.frame_offset = 0 AND n.sample_key = s.flip_key AND n.pred IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY s.benchmark, s.condition, s.video
            ORDER BY least(a.p_max, n.p_max) DESC NULLS LAST, s.frame_set) = 1
        ORDER BY least(a.p_max, n.p_max) DESC NULLS LAST, s.benchmark, s.condition, s.frame_set
        LIMIT ?
        """,
        [model, model, model, *(part for each in sets for part in each), most],
    ).fetchall()
    keys = [key for row in rows for key in (row[6], row[9])]
    runs = sorted({row[3] for row in rows})
    lie = {
        (run, key): (Wanted(dataset, version, shard, key), space)
        for run, key, dataset, version, shard, space in connection.execute(
            """
            SELECT p.run_id, p.sample_key, p.dataset, p.dataset_version, p.shard, r.label_space
            FROM predictions AS p JOIN runs AS r ON r.model = p.model AND r.run_id = p.run_id
            WHERE p.model = $model AND list_contains($runs, p.run_id)
                AND list_contains($keys, p.sample_key)
            """,
            {"model": model, "runs": runs, "keys": keys},
        ).fetchall()
    }
    names, stride_of = ClassNames(connection), strides(connection)
    found = []
    for benchmark, condition, frame_set, run, offset, labels, key, pred, p, *other in rows:
        other_key, other_pred, other_p = other
        (place, space), (other_place, _) = lie[run, key], lie[run, other_key]
        label = " or ".join(names(index, space) for index in labels[:2])
        found.append(
            Flip(
                model, benchmark, condition, frame_set, label,
                offset * stride_of.get((benchmark, condition), 1),
                Shown(place, names(pred, space), p),
                Shown(other_place, names(other_pred, space), other_p),
            )
        )  # fmt: skip
    return found


def with_flips(connection: duckdb.DuckDBPyConnection, models: Cast) -> list[str]:
    """The models that are shown: those in colour that were run on video, best first."""
    rows = connection.execute("SELECT DISTINCT model FROM pmk WHERE metric = 'pm0'").fetchall()
    have = {model for (model,) in rows}
    cast = models.among(sorted(have))
    return [model for model in cast.chosen if model in have][:MODELS]


def _sets(connection: duckdb.DuckDBPyConnection, model: str) -> list[tuple[str, str]]:
    """The sets to look in: a source as it was mined only where it is not reviewed."""
    found = connection.execute(
        "SELECT DISTINCT benchmark, condition FROM pmk WHERE model = ? AND metric = 'pm0' "
        "ORDER BY ALL",
        [model],
    ).fetchall()
    reviewed = {condition for benchmark, condition in found if benchmark == "reviewed_frame_sets"}
    return [
        (benchmark, condition)
        for benchmark, condition in found
        if benchmark != "frame_sets" or condition not in reviewed
    ]
