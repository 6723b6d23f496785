"""What reviewers said of mined frames, beside a model's answers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.results.measures.source import Source
from ops.results.measures.unit import Unit
from ops.results.measures.video_frames import SeenFrames
from ops.video.datasets import REVIEWED

# A frame that was rejected has the labels it was mined with, where nobody has changed them.
_FRAMES = """
    SELECT r.sample_key, coalesce(r.state = 'accepted', false) AS accepted,
        coalesce(r.labels, []) AS labels, r.labels IS NOT NULL AS labelled
    FROM reviewed_frames AS r
    JOIN datasets AS d
        ON d.dataset = $dataset AND r.frozen_version = d.parameters ->> '$.frozen_version'
    WHERE r.source = $source AND r.mined_version = $mined
    ORDER BY r.sample_key
"""


@dataclass(frozen=True)
class Reviewed:
    """Frames as reviewed, by place in the arrays of scores.

    Attributes
    ----------
    accepted : SeenFrames
        Accepted anchors with their accepted neighbours.
    all_pairs : SeenFrames
        Accepted anchors with every neighbour that was mined.
    about : dict
        Fields of every row: whose name it stands under.
    labels, owner : ndarray of int
        Every accepted label, and the frame it is of.
    labelled : ndarray of bool, shape (N,)
        Whether a frame has labels of the review.
    """

    accepted: SeenFrames
    all_pairs: SeenFrames
    about: dict[str, Any]
    labels: NDArray[np.int64]
    owner: NDArray[np.intp]
    labelled: NDArray[np.bool_]

    def correct(self, mined: NDArray[np.bool_], pred: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each prediction is one of the reviewed labels.

        Parameters
        ----------
        mined : ndarray of bool, shape (N,)
            Whether it is one of the labels that the frame was mined with.
        pred : ndarray of int, shape (N,)
            -1 where a frame could not be read.
        """
        hits = self.owner[self.labels == pred[self.owner]]
        right = np.bincount(hits, minlength=len(pred)) > 0
        return np.where(self.labelled, right, mined)


def review_of(source: Source, unit: Unit, seen: SeenFrames) -> Reviewed:
    """The sealed review of the frames a run is on.

    Raises
    ------
    ShiftlakeError
        If a frame that was accepted is none of those the model was run on, or there are no
        decisions.
    """
    run = unit.runs[0]
    dataset, version = f"{REVIEWED}/{run.condition}", unit.extra
    known = source.known.reviewed.get((dataset, version))
    if known is not None and np.array_equal(known.accepted.sample_key, seen.sample_key):
        return known
    rows = source.connection.sql(
        _FRAMES,
        params={"dataset": dataset, "source": run.condition, "mined": run.dataset_version},
    ).to_arrow_table()
    # Both are sorted by key, and a key is there once.
    keys = rows["sample_key"].to_numpy()
    place = np.searchsorted(seen.sample_key, keys)
    found = place < len(seen.sample_key)
    found[found] = seen.sample_key[place[found]] == keys[found]
    accepted = rows["accepted"].to_numpy()
    missing = keys[accepted & ~found]
    if not len(keys) or len(missing):
        raise ShiftlakeError(
            "Reviewed frames have no prediction." if len(keys) else "A review has no decisions.",
            expected="every accepted frame among those the model was run on",
            found=f"{len(missing):,} of {int(accepted.sum()):,} accepted frames are not: "
            f"{', '.join(missing[:3]) or 'none is known'}",
            where=f"{dataset} {version}, {run.model} on {run.dataset}",
            remedy="evaluate the mined frames again, or freeze and seal the review again",
        )
    kept = np.zeros(len(seen.sample_key), bool)
    kept[place[found]] = accepted[found]
    labelled = np.zeros_like(kept)
    labelled[place[found]] = rows["labelled"].to_numpy()[found]
    some = rows["labels"].combine_chunks().filter(pa.array(found))
    labels = some.flatten().to_numpy().astype(np.int64)
    sizes = some.value_lengths().to_numpy().astype(np.int64)
    anchors = np.zeros_like(kept)
    index = seen.index
    heads = index.rows[index.starts]
    anchors[index.rows] = kept[heads][index.which]
    about = {"benchmark": REVIEWED, "dataset_version": version}
    review = Reviewed(
        seen.of(kept),
        seen.of(anchors),
        about,
        labels,
        np.repeat(place[found], sizes),
        labelled,
    )
    source.known.reviewed[dataset, version] = review
    return review
