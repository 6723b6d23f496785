"""The video benchmarks: pm-0 to pm-k, the drop between them, and what they are made of.

k is 10, or what was mined where that is less: the name of a score says it. A variant is a reading,
and behind a semicolon the frames it is of where these are not all: ``with anchor; without
B-frames``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.metrics.paired_difference import METHOD as PAIRED
from ops.metrics.paired_difference import paired_difference
from ops.metrics.pm_k import pm_k_counts, pm_k_of
from ops.metrics.pm_k_index import FrameSetIndex
from ops.metrics.pm_k_neighbours import mean_neighbour
from ops.metrics.pm_k_offsets import offset_errors
from ops.results.measures.source import Source
from ops.results.measures.unit import ALPHA, Row, Unit
from ops.results.measures.video_clusters import by_video, mean_over_anchors
from ops.results.measures.video_frames import SeenFrames, answers_of
from ops.results.measures.video_reviewed import review_of

WITH, WITHOUT = "with anchor", "without anchor"

# Metric, variant, successes and trials.
Count = tuple[str, str, int, int]
Bools = NDArray[np.bool_]


def pm_k(source: Source, units: list[Unit]) -> list[Row]:
    """Everything that is measured of frame sets as they were published or mined."""
    rows = []
    for unit in units:
        answers = answers_of(source, unit.runs[0])
        rows += _everything(unit, answers.seen, answers.correct)
    return rows


def reviewed_pm_k(source: Source, units: list[Unit]) -> list[Row]:
    """The same of what reviewers left of mined frame sets, and what the review changed.

    Predictions are those on the mined frames; right is what the reviewed labels say.
    """
    rows = []
    for unit in units:
        answers = answers_of(source, unit.runs[0])
        review = review_of(source, unit, answers.seen)
        correct = review.correct(answers.correct, answers.pred)
        about = review.about
        rows += _everything(unit, review.accepted, correct, **about)
        # Accepted anchors with every frame around them: what of the drop is dissimilar frames.
        k, pairs, name = answers.seen.k, review.all_pairs, "all pairs"
        counts = [*_drop(pairs.index, correct, k, name), *_offsets(pairs.index, correct, k, name)]
        counts += _drop(answers.seen.index, answers.correct, k, "all mined")
        rows += unit.proportions(counts, **about)
    return rows


def _everything(unit: Unit, seen: SeenFrames, correct: Bools, **about: Any) -> list[Row]:
    index, k, n = seen.index, seen.k, seen.index.n
    if not n:
        return []
    reach = max(k, index.reach)
    inside = pm_k_counts(index, correct, reach)
    outside = pm_k_counts(index, correct, reach, anchor=False)
    counts: list[Count] = [(f"pm{near}", WITH, int(c), n) for near, c in enumerate(inside)]
    counts += [(f"pm{near}", WITHOUT, int(c), n) for near, c in enumerate(outside) if near]
    counts += list(_drop(index, correct, k))[2:]
    for name, some in seen.subsets.items():
        counts += _drop(some, correct, k, name)
    drawn = int(correct[seen.drawn].sum())
    counts.append(("pm_random_neighbour", f"within {k}", drawn, n))
    counts += _offsets(index, correct, k)
    rows = unit.proportions(counts, **about)
    rows.append(_drop_without_anchor(unit, index, correct, k, **about))
    rows += mean_over_anchors(
        unit,
        "pm_mean_neighbour",
        f"within {k}",
        mean_neighbour(index, correct, k),
        seen.clusters,
        **about,
    )
    right, whole = index.right_at_anchor(correct), pm_k_of(index, correct, k)
    named = {"pm0": WITH, f"pm{k}": WITH, "pm_drop": _drop_name(k), "pm_flip_rate": _share_name(k)}
    return rows + by_video(unit, right, whole, seen.clusters, k, named, **about)


def _drop_name(k: int) -> str:
    """The variant of the drop to pm-k."""
    return f"pm0 - pm{k}"


def _share_name(k: int) -> str:
    """The variant of the flip rate within k."""
    return f"drop / pm0, k = {k}"


def _drop(index: FrameSetIndex, correct: Bools, k: int, subset: str = "") -> Iterator[Count]:
    """pm-0, pm-k, and the anchors between them, out of all and out of those that are right.

    Paired on the same anchors: right within k implies right at 0, so that the drop is a count,
    with an exact interval.
    """
    right = int(index.right_at_anchor(correct).sum())
    whole = int(pm_k_of(index, correct, k).sum())
    yield "pm0", _variant(WITH, subset), right, index.n
    yield f"pm{k}", _variant(WITH, subset), whole, index.n
    yield "pm_drop", _variant(_drop_name(k), subset), right - whole, index.n
    yield "pm_flip_rate", _variant(_share_name(k), subset), right - whole, right


def _drop_without_anchor(
    unit: Unit, index: FrameSetIndex, correct: Bools, k: int, **about: Any
) -> Row:
    """The drop where an anchor may be wrong and all around it right: no count any more."""
    right = index.right_at_anchor(correct)
    whole = pm_k_of(index, correct, k, anchor=False)
    lost, gained = int((right & ~whole).sum()), int((whole & ~right).sum())
    lo, hi = paired_difference(gained, lost, index.n, ALPHA)
    return unit.row(
        "pm_drop",
        f"{_drop_name(k)}, {WITHOUT}",
        (lost - gained) / index.n,
        n=index.n,
        ci_lo=float(lo),
        ci_hi=float(hi),
        ci_method=PAIRED,
        **about,
    )


def _offsets(index: FrameSetIndex, correct: Bools, k: int, subset: str = "") -> Iterator[Count]:
    found = offset_errors(index, correct, max(k, index.reach))
    given = zip(found.offset, found.wrong_given_right, found.present_given_right, strict=True)
    every = zip(found.offset, found.wrong, found.present, strict=True)
    for name, counts in (("anchor right", given), ("any anchor", every)):
        for offset, wrong, present in counts:
            # Of anchors that are right, none is wrong.
            if offset or counts is every:
                at = f"{offset:+d}" if offset else "0"
                yield "pm_offset_error", _variant(f"{at}, {name}", subset), int(wrong), int(present)


def _variant(reading: str, subset: str) -> str:
    return f"{reading}; {subset}" if subset else reading
