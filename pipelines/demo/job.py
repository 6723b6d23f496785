"""The demo as a job: the stages of everything, with the training of small networks between."""

from collections.abc import Iterator

import dagster as dg

from assets.lake import Lake
from pipelines.cli.terminal import out
from pipelines.demo.gates import state_gates
from pipelines.demo.networks import CANDIDATE, NETWORKS, NORMALISER
from pipelines.demo.selection import JUDGED, NORMALISED, evaluated_on, part_wanted, wanted
from pipelines.demo.video import SOURCE, film, replay_review
from pipelines.stages import ANSWERS, Stage, attainable, run_stage, stages_to_shards

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
        out.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)

    def run(stage: Stage) -> None:
        # On a terminal the stage that is running stands below those that are done.
        with out.status(f"{stage.name} …"):
            run_stage(definitions, context.instance, stage, log)

    for stage in stages_to_shards(plan, catalog, part_wanted):
        run(stage)
    run(Stage("train_networks"))
    videos = lake.video_folder()
    assert videos is not None
    film(videos)
    context.instance.add_dynamic_partitions("video_source", [SOURCE])
    run(Stage("frame_sets", partition=SOURCE))
    replay_review(root, lake.load())
    run(Stage("reviewed_frame_sets", partition=SOURCE))
    state_gates(root)
    for stage in (*evaluations(), *ANSWERS):
        run(stage)


def evaluations() -> Iterator[Stage]:
    """The networks on all the demo makes, the two beside them on what they are there for."""
    first_network, last_network = NETWORKS[0].name, NETWORKS[-1].name
    for first, last in evaluated_on():
        yield Stage("evaluate", partitions=(f"{first}|{first_network}", f"{last}|{last_network}"))
    for model, only in ((NORMALISER, NORMALISED), (CANDIDATE, JUDGED)):
        for first, last in evaluated_on(only):
            yield Stage("evaluate", partitions=(f"{first}|{model}", f"{last}|{model}"))


@dg.job(
    description="Every benchmark in miniature, from archives served on loopback to the leaderboard."
)
def demo() -> None:
    """All stages of the demo."""
    run_demo()
