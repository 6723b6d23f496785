"""What pycocotools says of the same boxes, frame by frame and over lists of frames."""

from __future__ import annotations

import contextlib
import io

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from ops.metrics.detection import Detections, Truth


class Reference:
    """COCOeval at IoU 0.5 over all areas, on which any list of frames can be scored."""

    def __init__(self, truth: Truth, detections: Detections, n_frames: int) -> None:
        labels = sorted({*truth.label.tolist(), *detections.label.tolist()})
        self.labels = labels
        coco = COCO()
        coco.dataset = {
            "images": [{"id": frame + 1} for frame in range(n_frames)],
            "categories": [{"id": label + 1, "name": str(label)} for label in labels],
            "annotations": [
                {**_box(box), "id": at + 1, "image_id": f + 1, "category_id": c + 1, "iscrowd": 0}
                for at, (f, c, box) in enumerate(
                    zip(truth.frame, truth.label, truth.box, strict=True)
                )
            ],
        }
        with contextlib.redirect_stdout(io.StringIO()):
            coco.createIndex()
            found = [
                {"image_id": int(f) + 1, "category_id": int(c) + 1, "score": float(s), **_box(box)}
                for f, c, s, box in zip(
                    detections.frame,
                    detections.label,
                    detections.score,
                    detections.box,
                    strict=True,
                )
            ]
            # loadRes fails on an empty list.
            results = coco.loadRes(found) if found else _nothing(coco)
        self.truth, self.found = coco, results

    def evaluated(self, frames: list[int]) -> COCOeval:
        evaluation = COCOeval(self.truth, self.found, "bbox")
        evaluation.params.imgIds = [frame + 1 for frame in frames]
        evaluation.params.catIds = [label + 1 for label in self.labels]
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.areaRng = [[0, 1e10]]
        evaluation.params.areaRngLbl = ["all"]
        evaluation.params.maxDets = [100]
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.evaluate()
            evaluation.accumulate()
        return evaluation

    def mean_ap(self, frames: list[int]) -> float:
        """NaN where no class has a true box in the frames."""
        precision = self.evaluated(frames).eval["precision"]
        there = precision[precision > -1]
        return float(there.mean()) if there.size else float("nan")

    def hits(self, frames: list[int]) -> dict[tuple[int, int], list[tuple[float, bool]]]:
        """Score and success of every detection that counts, by frame and class."""
        return {
            (each["image_id"] - 1, each["category_id"] - 1): [
                (score, bool(matched))
                for score, matched in zip(each["dtScores"], each["dtMatches"][0], strict=True)
            ]
            for each in self.evaluated(frames).evalImgs
            if each is not None
        }


def _box(box: np.ndarray) -> dict[str, object]:
    x, y, right, bottom = (float(value) for value in box)
    width, height = right - x, bottom - y
    return {"bbox": [x, y, width, height], "area": width * height}


def _nothing(coco: COCO) -> COCO:
    empty = COCO()
    empty.dataset = {**coco.dataset, "annotations": []}
    empty.createIndex()
    return empty
