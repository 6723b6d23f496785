"""The code location: all definitions, made fresh by one function that tests call, too."""

from __future__ import annotations

import os

import dagster as dg

from assets.frame_reviews import frame_reviews, reviewed_frame_sets
from assets.frame_sets import frame_sets, video_sources
from assets.gate import gate
from assets.lake import Lake
from assets.parity import parity_assets
from assets.pm_k import pmk_classification, pmk_detection, pmk_flicker
from assets.predictions import exactly_once, predictions
from assets.report import reference, report
from assets.results import leaderboard, metrics
from assets.shards import shard_assets, shard_check_assets
from assets.sources import source_assets
from pipelines.environment import DEMO_VARIABLE
from pipelines.jobs import Job, asset_jobs
from pipelines.registration import register
from pipelines.schedules import rebuild
from pipelines.sensors import (
    changed_upstream,
    new_models,
    results_follow_predictions,
    watched_models,
)
from pipelines.stages import everything
from pipelines.video_sensors import frozen_reviews, new_video_sources, results_follow_reviews


def build_definitions(*, lake: Lake | None = None) -> dg.Definitions:
    """Make the definitions.

    Parameters
    ----------
    lake : Lake, optional
        Storage root and catalog; by default those of the environment, read at run time.
    """
    assets: list[dg.AssetsDefinition] = [
        *source_assets(),
        *shard_assets(),
        video_sources,
        frame_sets,
        frame_reviews,
        reviewed_frame_sets,
        predictions,
        metrics,
        leaderboard,
        pmk_classification,
        pmk_detection,
        pmk_flicker,
        gate,
        reference,
        report,
        *parity_assets(),
    ]
    jobs: list[Job] = [*asset_jobs(), everything, register]
    if os.environ.get(DEMO_VARIABLE):
        from pipelines.demo.job import demo, train_networks
        from pipelines.demo.networks import networks

        assets.append(networks)
        jobs += [demo, train_networks]
    return dg.Definitions(
        assets=assets,
        asset_checks=[*shard_check_assets(), exactly_once],
        jobs=jobs,
        schedules=[rebuild],
        sensors=[
            new_models,
            watched_models,
            changed_upstream,
            results_follow_predictions,
            new_video_sources,
            frozen_reviews,
            results_follow_reviews,
        ],
        resources={"lake": lake or Lake()},
        executor=dg.in_process_executor,
    )


defs = build_definitions()
