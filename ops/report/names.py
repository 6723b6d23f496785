"""Benchmarks, metrics and classes in a reader's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ops.catalog import Catalog
from ops.errors import ShiftlakeError

if TYPE_CHECKING:
    import duckdb

_FORMS = {"_rendered": ", rendered here", "_on_the_fly": ", rendered on the fly"}
_CONDITIONS = {
    "matched_frequency": "matched frequency",
    "threshold07": "threshold 0.7",
    "top_images": "top images",
}
_METRICS = {
    "top1": "top-1",
    "top5": "top-5",
    "aupr": "AUPR",
    "mce_alexnet_pct": "mCE",
    "mean_err_15_pct": "mean error of 15",
    "mean_flip_probability_10": "mean flip probability",
    "avg_top1_7": "top-1, mean of 7 levels",
}
_FRAME_SETS = {"frame_sets": "as mined", "reviewed_frame_sets": "reviewed"}
_VARIANTS = {"real": "reassessed labels", "severity 5": "severity 5", "masked": "masked"}


def benchmark_name(catalog: Catalog, benchmark: str) -> str:
    """A benchmark as papers write it, with how it was rendered where it was rendered here."""
    base, form = benchmark, ""
    for suffix, words in _FORMS.items():
        if benchmark.endswith(suffix):
            base, form = benchmark.removesuffix(suffix), words
    distorted = base.startswith("distorted_")
    try:
        name = catalog.benchmark(benchmark).name
    except ShiftlakeError:
        return benchmark
    name = re.sub(r" \(.*\)$", "", name)
    name = {"ImageNet-1k": "ImageNet", "ImageNet-ReaL labels": "ImageNet-ReaL"}.get(name, name)
    return ("Distorted " if distorted else "") + name + form


def frame_set_name(benchmark: str, condition: str) -> str:
    """A set of video frames in words: a published one, or a source and who looked at it.

    Examples
    --------
    >>> frame_set_name("reviewed_frame_sets", "street_scenes")
    'street scenes, reviewed'
    """
    published = {"imagenet_vid_robust": "ImageNet-Vid-Robust", "ytbb_robust": "YTBB-Robust"}
    if benchmark in published:
        return published[benchmark]
    source = condition.replace("_", " ")
    how = _FRAME_SETS.get(benchmark)
    return f"{source}, {how}" if how else f"{benchmark} {source}"


def dataset_name(catalog: Catalog, benchmark: str, condition: str) -> str:
    """A benchmark with its condition, where it has several."""
    if benchmark in _FRAME_SETS:
        return frame_set_name(benchmark, condition)
    name = benchmark_name(catalog, benchmark)
    if condition in ("clean", "all", "val", "test"):
        return name
    return f"{name}, {_CONDITIONS.get(condition, condition.replace('_', ' '))}"


def metric_name(metric: str, variant: str) -> str:
    """A metric with its variant, where that is not the usual one."""
    name = _METRICS.get(metric, metric.removesuffix("_pct").replace("_", " "))
    # pm10, or pm5 where five frames to either side were mined.
    name = re.sub(r"^pm(\d+)$", r"pm-\1", name)
    return f"{name}, {_VARIANTS[variant]}" if variant in _VARIANTS else name


class ClassNames:
    """Names of classes by label space and index; "class 17" where none are known."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        rows = connection.execute("SELECT list, class_index, name FROM class_lists").fetchall()
        self._names = {(space, index): name for space, index, name in rows}

    def __call__(self, index: int | None, space: str = "ilsvrc1000") -> str:
        """Name of a class, in words."""
        if index is None:
            return "nothing"
        return str(self._names.get((space, index), f"class {index}")).replace("_", " ")
