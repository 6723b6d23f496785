"""Partitions of predictions: a model, and a suite of datasets."""

from __future__ import annotations

import dagster as dg

from assets.suites import suites

MODELS = dg.DynamicPartitionsDefinition(name="model")
BENCHMARKS = dg.StaticPartitionsDefinition(
    [name for name, suite in suites().items() if suite.evaluated]
)
PREDICTIONS = dg.MultiPartitionsDefinition({"benchmark": BENCHMARKS, "model": MODELS})
