"""Partitions: of predictions a model and a suite of datasets, of frame sets a video source."""

from __future__ import annotations

import dagster as dg

from assets.suites import suites
from ops.catalog import Catalog
from ops.video.datasets import MINED

MODELS = dg.DynamicPartitionsDefinition(name="model")
BENCHMARKS = dg.StaticPartitionsDefinition(
    [*(name for name, suite in suites().items() if suite.evaluated), MINED]
)
PREDICTIONS = dg.MultiPartitionsDefinition({"benchmark": BENCHMARKS, "model": MODELS})
VIDEO_SOURCES = dg.DynamicPartitionsDefinition(name="video_source")


def datasets_of(catalog: Catalog, benchmark: str) -> list[str]:
    """Names of the datasets that a partition of predictions stands for.

    The mined sets of video sources are one partition; they are known once they are sealed.
    """
    if benchmark == MINED:
        return [spec.name for spec in catalog.datasets.values() if spec.family == MINED]
    return [spec.name for spec in suites()[benchmark].specs]
