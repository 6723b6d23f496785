"""Detection pm-k at the size of ImageNet-Vid-Robust: 1,109 sets, 22,179 frames, 150,000 boxes.

Three ways to the same two numbers (mAP at IoU 0.5 on the anchors, and on every set's worst frame):
Shiftlake; pycocotools as a user would run it, one evaluation a frame and two more over the chosen
frames; and pycocotools asked once for all frames, whose matches are then averaged by hand. Every
contestant has a process of its own. They must agree to 1e-9.

    python -m benchmarks.detection_pm_k [--runs 3] [--frames 22179] [--boxes 150000]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.report import machine, show, write
from ops.metrics.detection import (
    Detections,
    SetFrames,
    Truth,
    draws_of_sets,
    merged_labels,
    paired_intervals,
    pm_k_map,
    worst_frames,
)

SETS, FRAMES, BOXES, LABELS = 1_109, 22_179, 150_000, 30
BAR = 20.0
Problem = tuple[SetFrames, Truth, Detections]


def made(n_frames: int, n_boxes: int) -> Problem:
    """Sets of about 20 frames, and a detector whose errors last from one frame to the next."""
    rng = np.random.default_rng(0)
    n_sets = max(1, round(SETS * n_frames / FRAMES))
    own = np.sort(rng.integers(0, n_sets, n_frames - n_sets))
    own = np.sort(np.concatenate([own, np.arange(n_sets)]))
    first = np.searchsorted(own, own, "left")
    count = np.bincount(own)[own]
    offset = np.arange(n_frames) - first - count // 2
    per_frame = 1 + rng.poisson(0.6, n_sets)[own]
    frame = np.repeat(np.arange(n_frames), per_frame)
    nth = np.arange(frame.size) - np.searchsorted(frame, frame, "left")
    label = rng.integers(0, LABELS, (n_sets, 16))[own[frame], np.minimum(nth, 15)]
    corner = rng.uniform(0, 700, (n_sets, 16, 2))[own[frame], np.minimum(nth, 15)]
    size = rng.uniform(40, 400, (n_sets, 16, 2))[own[frame], np.minimum(nth, 15)]
    corner = corner + 3 * offset[frame, None]
    truth = Truth(frame, label, np.concatenate([corner, corner + size], axis=1))
    drift = np.cumsum(rng.normal(0, 4, (frame.size, 4)), axis=0)
    drift -= np.repeat(
        drift[np.searchsorted(own[frame], np.arange(n_sets))], np.bincount(own[frame]), axis=0
    )
    seen = rng.integers(0, frame.size, n_boxes)
    box = truth.box[seen] + drift[seen] + rng.normal(0, 6, (n_boxes, 4))
    box[:, 2:] = np.maximum(box[:, 2:], box[:, :2] + 1)
    said = np.where(rng.random(n_boxes) < 0.9, label[seen], rng.integers(0, LABELS, n_boxes))
    frames = SetFrames(own, offset)
    # Of the boxes around one object the first is the detector's own, the others are doubtful.
    own_box = np.zeros(n_boxes, bool)
    own_box[np.unique(seen, return_index=True)[1]] = True
    score = 0.5 * rng.random(n_boxes) + 0.5 * own_box
    return frames, truth, Detections(frame[seen], said, box, score)


def with_shiftlake(problem: Problem) -> tuple[list[float], float]:
    """Both numbers; nothing is prepared beforehand."""
    start = time.perf_counter()
    value = pm_k_map(*problem, ks=(0, 10)).value
    return value.tolist(), time.perf_counter() - start


def with_shiftlake_and_intervals(problem: Problem) -> tuple[list[float], float]:
    """All k from 0 to 10, detection and localisation, each with its interval."""
    frames, truth, found = problem
    start = time.perf_counter()
    times = draws_of_sets(np.arange(frames.n_sets))
    values = []
    for boxes in ((truth, found), merged_labels(truth, found)):
        scores = pm_k_map(frames, *boxes, ks=tuple(range(11)))
        paired_intervals(scores, times)
        values.append(scores.value)
    return [float(values[0][0]), float(values[0][10])], time.perf_counter() - start


class Coco:
    """The problem as pycocotools takes it; making it is not timed."""

    def __init__(self, problem: Problem) -> None:
        from pycocotools.coco import COCO

        self.frames, truth, found = problem
        self.truth = COCO()
        self.truth.dataset = {
            "images": [{"id": at + 1} for at in range(self.frames.set.size)],
            "categories": [{"id": label + 1, "name": str(label)} for label in range(LABELS)],
            "annotations": [
                {"id": at + 1, "iscrowd": 0, **row} for at, row in enumerate(_rows(truth))
            ],
        }
        with contextlib.redirect_stdout(io.StringIO()):
            self.truth.createIndex()
            rows = [
                {**row, "score": float(score)}
                for row, score in zip(_rows(found), found.score, strict=True)
            ]
            self.found = self.truth.loadRes(rows)

    def evaluated(self, frames: Sequence[int]) -> Any:
        """What pycocotools matches in these frames."""
        from pycocotools.cocoeval import COCOeval

        evaluation = COCOeval(self.truth, self.found, "bbox")
        evaluation.params.imgIds = [int(frame) + 1 for frame in frames]
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluation.params.maxDets = [100]
        evaluation.evaluate()
        return evaluation

    def mean_ap(self, frames: Sequence[int]) -> float:
        """Mean average precision over these frames, matched anew."""
        evaluation = self.evaluated(frames)
        evaluation.accumulate()
        return _mean(evaluation.eval["precision"])


def _rows(boxes: Truth | Detections) -> list[dict[str, Any]]:
    sides = np.concatenate([boxes.box[:, :2], boxes.box[:, 2:] - boxes.box[:, :2]], axis=1)
    return [
        {"image_id": f + 1, "category_id": c + 1, "bbox": side, "area": side[2] * side[3]}
        for f, c, side in zip(
            boxes.frame.tolist(), boxes.label.tolist(), sides.tolist(), strict=True
        )
    ]


def _mean(precision: np.ndarray) -> float:
    there = precision[precision > -1]
    return float(there.mean()) if there.size else float("nan")


def with_pycocotools(problem: Problem) -> tuple[list[float], float]:
    """A fresh evaluation for every frame, then one over the anchors and one over the worst."""
    coco = Coco(problem)
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        frame_ap = np.array([coco.mean_ap([f]) for f in range(coco.frames.set.size)])
        chosen = [worst_frames(coco.frames, frame_ap, k) for k in (0, 10)]
        values = [coco.mean_ap(frames.tolist()) for frames in chosen]
    return values, time.perf_counter() - start


def with_pycocotools_once(problem: Problem) -> tuple[list[float], float]:
    """One ``evaluate()`` over all frames; ``accumulate()`` over parts of what it found."""
    coco = Coco(problem)
    start = time.perf_counter()
    n = coco.frames.set.size
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = coco.evaluated(range(n))
        matched = evaluation.evalImgs

        def mean_ap(frames: Sequence[int]) -> float:
            ids = [int(frame) + 1 for frame in frames]
            params = evaluation.params
            params.imgIds = evaluation._paramsEval.imgIds = ids
            evaluation.evalImgs = [matched[k * n + i - 1] for k in range(LABELS) for i in ids]
            evaluation.accumulate()
            return _mean(evaluation.eval["precision"])

        frame_ap = np.array([mean_ap([f]) for f in range(n)])
        chosen = [worst_frames(coco.frames, frame_ap, k) for k in (0, 10)]
        values = [mean_ap(frames.tolist()) for frames in chosen]
    return values, time.perf_counter() - start


CONTESTANTS: dict[str, Callable[[Problem], tuple[list[float], float]]] = {
    "shiftlake": with_shiftlake,
    "shiftlake, 22 values with intervals": with_shiftlake_and_intervals,
    "pycocotools, frame by frame": with_pycocotools,
    "pycocotools, matched once": with_pycocotools_once,
}


def measure(name: str, n_frames: int, n_boxes: int) -> dict[str, Any]:
    """Seconds, both numbers and peak memory of this process."""
    problem = made(n_frames, n_boxes)
    before = time.process_time()
    values, seconds = CONTESTANTS[name](problem)
    cpu = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu": cpu, "peak_mib": peak, "values": values}


def apart(name: str, n_frames: int, n_boxes: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.detection_pm_k"]
    command += ["--only", name, "--frames", str(n_frames), "--boxes", str(n_boxes)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--boxes", type=int, default=BOXES)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.frames, options.boxes)))
        return
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTESTANTS}
    for at in range(options.runs):
        for name in CONTESTANTS:
            # A contestant of minutes is run once.
            if at == 0 or name.startswith("shiftlake"):
                found[name].append(apart(name, options.frames, options.boxes))
    rows = []
    for name, runs in found.items():
        values = runs[0]["values"]
        difference = np.abs(np.subtract(values, found["shiftlake"][0]["values"])).max()
        if difference > 1e-9:
            raise SystemExit(f"{name} finds {values}, {difference:g} off")
        rows.append(
            {
                "way": name,
                "runs": len(runs),
                "median s": round(statistics.median(run["seconds"] for run in runs), 2),
                "CPU s, all": round(statistics.median(run["cpu"] for run in runs), 2),
                "peak MiB": round(max(run["peak_mib"] for run in runs)),
                "pm-0, pm-10": " ".join(f"{100 * value:.4f}" for value in values),
            }
        )
    title = f"Detection pm-k, {options.frames:,} frames, {options.boxes:,} boxes"
    show(title, rows)
    print(f"bar: {BAR:g} s without intervals")
    write(
        "detection_pm_k",
        {"what": title, "machine": machine(), "bar_seconds": BAR, "rows": rows},
    )


if __name__ == "__main__":
    main()
