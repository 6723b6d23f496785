"""Made-up boxes: on a coarse grid, where overlaps and scores often tie, and as a detector errs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ops.metrics.detection import Detections, SetFrames, Truth

N_FRAMES = 4


def truth_of(rows: list[tuple[int, int, tuple[float, float, float, float]]]) -> Truth:
    frame = np.array([row[0] for row in rows], np.int64)
    label = np.array([row[1] for row in rows], np.int64)
    return Truth(frame, label, np.array([row[2] for row in rows], float).reshape(-1, 4))


def found_of(
    rows: list[tuple[int, int, tuple[float, float, float, float], float]],
) -> Detections:
    known = truth_of([row[:3] for row in rows])
    scores = np.array([row[3] for row in rows], float)
    return Detections(known.frame, known.label, known.box, scores)


_side = st.integers(0, 6)
_box = st.tuples(_side, _side, _side, _side).map(
    lambda b: (float(b[0]), float(b[1]), float(b[0] + b[2]), float(b[1] + b[3]))
)
_frame, _label = st.integers(0, N_FRAMES - 1), st.integers(0, 2)
_score = st.sampled_from([0.1, 0.5, 0.5, 0.75, 1.0])

truths = st.lists(st.tuples(_frame, _label, _box), max_size=25).map(truth_of)
findings = st.lists(st.tuples(_frame, _label, _box, _score), max_size=40).map(found_of)


def detector(
    n_sets: int, seed: int, *, reach: int = 3, n_labels: int = 5, found: float = 0.8
) -> tuple[SetFrames, Truth, Detections]:
    """Sets of 2 * reach + 1 frames, and a detector that misses, shifts, mislabels and doubles."""
    rng = np.random.default_rng(seed)
    offsets = np.tile(np.arange(-reach, reach + 1), n_sets)
    frames = SetFrames(np.repeat(np.arange(n_sets), 2 * reach + 1), offsets)
    frame = np.repeat(np.arange(offsets.size), rng.integers(0, 4, offsets.size))
    corner = rng.uniform(0, 300, (frame.size, 2))
    box = np.concatenate([corner, corner + rng.uniform(20, 200, (frame.size, 2))], axis=1)
    label = rng.integers(0, n_labels, frame.size)
    truth = Truth(frame, label, box)
    seen = np.flatnonzero(rng.random(frame.size) < found)
    seen = np.concatenate([seen, rng.permutation(seen)[: seen.size // 4]])
    moved = box[seen] + rng.normal(0, 12, (seen.size, 4))
    moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2])
    wrong = rng.integers(0, n_labels, seen.size)
    said = np.where(rng.random(seen.size) < 0.85, label[seen], wrong)
    score = np.round(rng.random(seen.size), 2)
    return frames, truth, Detections(frame[seen], said, moved, score)
