"""Jobs: what is started together.

An asset job can hold one kind of partition. What spans several kinds is a job of one op that
runs the asset jobs in order, each as a run of its own (see :mod:`pipelines.stages`).
"""

from __future__ import annotations

from typing import Any

import dagster as dg

from assets.parity import parity_assets
from assets.suites import Suite, source_key, suites
from ops.catalog import load

# Asset jobs stay unresolved until they meet the assets; Dagster exports no name for them.
Job = Any

NATURAL = (
    "imagenet_1k_val",
    "imagenetv2_matched_frequency",
    "imagenetv2_threshold07",
    "imagenetv2_top_images",
    "imagenet_sketch",
    "imagenet_a",
    "imagenet_o",
    "imagenet_r",
    "imagenet_real",
)


def suite_selection(*names: str) -> dg.AssetSelection:
    """Shards of suites and the archives they are made of."""
    catalog = load()
    keys = [list(suites()[name].key) for name in names]
    keys += [
        list(source_key(file))
        for name in names
        for spec in suites()[name].specs
        for file_id in spec.files
        for file in [catalog.file(spec.benchmark, file_id)]
    ]
    return dg.AssetSelection.assets(*keys)


def asset_jobs() -> list[Job]:
    """Unresolved jobs over assets."""
    plain = [name for name, suite in suites().items() if not suite.partitioned]
    jobs = [
        dg.define_asset_job(
            "sources",
            selection=dg.AssetSelection.groups("sources"),
            description="Download and verify every published archive.",
        ),
        dg.define_asset_job(
            "shards",
            selection=dg.AssetSelection.assets(*(list(suites()[name].key) for name in plain)),
            description="Seal every dataset that has no partitions, from archives at hand.",
        ),
        dg.define_asset_job(
            "natural_shifts",
            selection=suite_selection(*NATURAL),
            description="ImageNet-1k val, V2, Sketch, A, O, R and ReaL: archives and shards.",
        ),
        *(_by_partition(suite) for suite in suites().values() if suite.partitioned),
        dg.define_asset_job(
            "frame_sets",
            selection=dg.AssetSelection.assets(["video", "sources"], ["video", "frame_sets"]),
            description="Mine anchors and neighbours from the videos of a source.",
        ),
        dg.define_asset_job(
            "reviewed_frame_sets",
            selection=dg.AssetSelection.assets(
                ["video", "frame_reviews"], ["video", "reviewed_frame_sets"]
            ),
            description="The newest frozen review of a source, as a dataset.",
        ),
        dg.define_asset_job(
            "evaluate",
            selection=dg.AssetSelection.assets(["evaluation", "predictions"]),
            description="Predictions of a model on benchmarks; what is done is passed over.",
        ),
        dg.define_asset_job(
            "results",
            selection=dg.AssetSelection.groups("results")
            | dg.AssetSelection.assets(["results", "report"]),
            description="Metrics, leaderboard, pm-k, gates, what others published, and the report.",
        ),
        dg.define_asset_job(
            "parity",
            selection=dg.AssetSelection.assets(*(asset.key for asset in parity_assets())),
            description="Published benchmarks beside the ones rendered here.",
        ),
    ]
    return [*jobs]


def _by_partition(suite: Suite) -> Job:
    if suite.rendered:
        how = "recipes on the fly" if suite.on_the_fly else "rendered here"
        source = ", ".join(sorted({name for spec in suite.specs for name in spec.derived_from}))
        description = f"{suite.name}: {how} out of {source}, by condition."
    elif suite.derived:
        description = f"{suite.name}: cut out of sealed datasets, by condition."
    else:
        description = f"{suite.name}: archives, and shards by condition."
    return dg.define_asset_job(
        suite.name, selection=suite_selection(suite.name), description=description
    )
