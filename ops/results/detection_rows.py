"""Rows of the table of detection metrics, of one detector on one dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ops.inference.detections.framed import read_framed
from ops.inference.detections.store import read_boxes
from ops.metrics.detection import (
    COCO,
    RULES,
    Detections,
    Intervals,
    PmKMap,
    Rule,
    Truth,
    draws_of_sets,
    merged_labels,
    paired_intervals,
    pm_k_map,
    suppressed,
)
from ops.metrics.detection.paired_intervals import METHOD
from ops.results.detection_arrays import DetectionArrays, detection_arrays
from ops.results.detection_units import DetectionUnit
from ops.shards import read_shard
from ops.storage import Root

ALPHA = 0.05
Row = dict[str, Any]


def detection_rows(root: Root, unit: DetectionUnit) -> list[Row]:
    """Every metric of one unit, with the columns of `DETECTION_METRICS`.

    Empty where no anchor has annotated boxes. The rule ``101-point`` is scored for every k up to
    the largest offset of a frame, the others on the anchors and for the largest k alone.
    """
    accepted = None
    if unit.reviewed is not None:
        accepted = frozenset(
            sample.key
            for entry in unit.reviewed.shards
            for sample in read_shard(root, unit.reviewed, entry)
        )
    frames = read_framed(root, unit.mined.name).frames
    arrays = detection_arrays(frames, read_boxes(root, unit.record), accepted)
    if not arrays.frames.n_sets:
        return []
    times = draws_of_sets(arrays.video)
    largest = int(np.abs(arrays.frames.offset).max())
    rows: list[Row] = []
    for variant, truth, found in _variants(arrays):
        for rule in RULES.values():
            if variant == "localisation_nms" and rule is not COCO:
                continue
            ks = range(largest + 1) if rule is COCO else sorted({0, largest})
            scores = pm_k_map(arrays.frames, truth, found, tuple(ks), rule)
            intervals = paired_intervals(scores, times, ALPHA)
            for row in _rows(scores, intervals, rule):
                rows.append({**_of(unit, arrays), **row, "variant": variant})
    return rows


def _variants(arrays: DetectionArrays) -> list[tuple[str, Truth, Detections]]:
    truth, found = merged_labels(arrays.truth, arrays.detections)
    # One object that is reported once for every class a detector wavers between costs it
    # precision once classes are merged; this variant forgives that.
    once = merged_labels(arrays.truth, suppressed(arrays.detections))[1]
    return [
        ("detection", arrays.truth, arrays.detections),
        ("localisation", truth, found),
        ("localisation_nms", truth, once),
    ]


def _rows(scores: PmKMap, intervals: Intervals, rule: Rule) -> list[Row]:
    rows = []
    for at, k in enumerate(scores.ks):
        value = float(scores.value[at])
        ranking = scores.rankings[at]
        common = {
            "rule": rule.name,
            "k": k,
            "n_classes": int(ranking.truth.any(axis=1).sum()),
            "n_boxes": int(ranking.truth.sum()),
        }
        rows.append({"metric": f"pm{k}_map50", **common, **_number(value, intervals.value[at])})
        if k:
            drop = float(scores.value[0]) - value
            rows.append({"metric": "pm_map50_drop", **common, **_number(drop, intervals.drop[at])})
    return rows


def _number(value: float, interval: tuple[float, float]) -> Row:
    lo, hi = (None if np.isnan(end) else end for end in interval)
    known = lo is not None
    return {
        "value": None if np.isnan(value) else value,
        "ci_lo": lo,
        "ci_hi": hi,
        "ci_method": METHOD if known else None,
        "alpha": ALPHA if known else None,
    }


def _of(unit: DetectionUnit, arrays: DetectionArrays) -> Row:
    return {
        "model": unit.record.model,
        "benchmark": unit.scored.benchmark,
        "condition": unit.scored.condition,
        "n": arrays.frames.n_sets,
        "n_videos": int(np.unique(arrays.video).size),
        "n_frames": int(arrays.frames.set.size),
        "n_left_out": arrays.n_left_out,
        "n_error": unit.record.n_error,
        "origin": unit.record.origin,
        "detections_key": unit.record.key,
        "dataset_version": unit.scored.version,
        "mined_version": unit.mined.version,
        "synthetic": unit.mined.synthetic,
        "inputs": unit.inputs,
    }
