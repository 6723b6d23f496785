"""The demo as a job: the stages of everything, with the training of small networks between."""

import dagster as dg

from assets.lake import Lake
from pipelines.demo.selection import part_wanted, wanted
from pipelines.stages import (
    Stage,
    attainable,
    run_stage,
    stages_to_results,
    stages_to_shards,
)

train_networks = dg.define_asset_job(
    "train_networks",
    selection=dg.AssetSelection.assets(["demo", "networks"]),
    description="Train a small network for each label space.",
)


@dg.op(description="Fetch, seal, train, evaluate and measure, each stage as a run of its own.")
def run_demo(context: dg.OpExecutionContext, lake: Lake) -> None:
    """Run the demo's stages in order."""
    from pipelines.definitions import build_definitions

    definitions = build_definitions(lake=lake)
    root, catalog = lake.open(), lake.load()
    plan = attainable(root, catalog, wanted=wanted)

    def log(line: str) -> None:
        context.log.info(line)
        print(f"  {line}", flush=True)

    for stage in stages_to_shards(plan, catalog, part_wanted):
        run_stage(definitions, context.instance, stage, log)
    run_stage(definitions, context.instance, Stage("train_networks"), log)
    for stage in stages_to_results(root, context.instance):
        run_stage(definitions, context.instance, stage, log)


@dg.job(
    description="Every benchmark in miniature, from archives served on loopback to the leaderboard."
)
def demo() -> None:
    """All stages of the demo."""
    run_demo()
