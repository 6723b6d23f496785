"""Everything in order: the asset jobs one after the other, each a run of its own.

Asset jobs hold one kind of partition each, so a whole rebuild is several runs. What cannot be
had (an archive behind a login that nobody has added) is named and passed over; the rest goes on.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import dagster as dg

from assets.lake import Lake
from assets.partitions import BENCHMARKS, MODELS, datasets_of
from assets.suites import Suite, reference_sources, source_key, suites
from ops.catalog import Catalog
from ops.fetch import read_receipt
from ops.shards import has_manifest
from ops.storage import Root
from ops.video.review.freeze import frozen_versions
from ops.video.sources import list_sources
from pipelines.event_log import kept_open
from pipelines.run_tags import run_tags

_START, _END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


# The event log has every line; the terminal needs only what goes wrong.
QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}


@dataclass(frozen=True)
class Stage:
    """One run: a job, which of its assets, and a range of partitions or one of them."""

    job: str
    assets: tuple[tuple[str, str], ...] = ()
    partitions: tuple[str, str] | None = None
    partition: str | None = None

    @property
    def tags(self) -> dict[str, str]:
        """Run tags that name the range."""
        return dict(zip((_START, _END), self.partitions, strict=True)) if self.partitions else {}

    @property
    def name(self) -> str:
        """The job with its partitions, for a person."""
        if self.partitions is None:
            return f"{self.job} {self.partition}" if self.partition else self.job
        # Of predictions a partition is a benchmark and a model, with a bar between.
        parts = zip(*(partition.split("|") for partition in self.partitions), strict=True)
        stretches = [first if first == last else f"{first} … {last}" for first, last in parts]
        return " with ".join([f"{self.job} {stretches[0]}", *stretches[1:]])


# From prediction rows to what a person reads.
ANSWERS = (Stage("results"), Stage("parity"))


@dataclass
class Plan:
    """What can be built, and what is missing for the rest."""

    suites: list[Suite] = field(default_factory=list)
    lacking: dict[str, list[str]] = field(default_factory=dict)


def attainable(
    root: Root,
    catalog: Catalog,
    *,
    fetched: bool = False,
    wanted: Callable[[Suite], bool] = lambda suite: not suite.made_here,
) -> Plan:
    """Which suites can be built: their archives are here or (unless `fetched`) obtainable.

    By default those of published images: what is rendered here would double them, and is made
    by the jobs of its own.
    """
    plan = Plan()
    for name, suite in suites().items():
        if not wanted(suite):
            continue
        files = {
            source_key(file): file for spec in suite.specs for file in catalog.sources(spec.name)
        }
        lacking = [
            file.how_to_get or f"{file.name} could not be fetched."
            for file in files.values()
            if (file.manual or fetched) and read_receipt(root, file) is None
        ]
        if lacking:
            plan.lacking[name] = lacking
        else:
            plan.suites.append(suite)
    return plan


def stages_to_shards(
    plan: Plan, catalog: Catalog, parts: Callable[[Suite, str], bool] = lambda suite, part: True
) -> Iterator[Stage]:
    """Runs from nothing to sealed shards, for the suites of a plan.

    `parts` says which partitions of a suite; those side by side are made in one run.
    """
    sources = {
        source_key(file)
        for suite in plan.suites
        for spec in suite.specs
        for file in catalog.sources(spec.name)
    } | set(reference_sources())
    if sources:
        yield Stage("sources", tuple(sorted(sources)))
    plain = tuple(suite.key for suite in plan.suites if not suite.partitioned)
    if plain:
        yield Stage("shards", plain)
    for suite in plan.suites:
        if suite.partitioned:
            for run in _runs(suite, parts):
                yield Stage(suite.name, (suite.key,), (run[0], run[-1]))


def _runs(suite: Suite, parts: Callable[[Suite, str], bool]) -> Iterator[list[str]]:
    """The chosen partitions of a suite, cut where others lie between them."""
    for chosen, run in groupby(suite.parts, key=lambda part: parts(suite, part)):
        if chosen:
            yield list(run)


def stages_to_frame_sets(
    root: Root, instance: dg.DagsterInstance, videos: Path | None
) -> Iterator[Stage]:
    """Runs from video sources to mined sets, and to reviewed ones where a review is frozen."""
    names = list_sources(videos) if videos is not None else []
    instance.add_dynamic_partitions("video_source", names)
    for name in names:
        yield Stage("frame_sets", partition=name)
        if frozen_versions(root, name):
            yield Stage("reviewed_frame_sets", partition=name)


def stages_to_results(
    root: Root,
    catalog: Catalog,
    instance: dg.DagsterInstance,
    benchmarks: Sequence[str] | None = None,
) -> Iterator[Stage]:
    """Runs from sealed shards to the leaderboard, for the registered models."""
    from ops.models import list_models

    instance.add_dynamic_partitions("model", list_models(root))
    models = list(MODELS.get_partition_keys(dynamic_partitions_store=instance))
    wanted = benchmarks or [
        name
        for name in BENCHMARKS.get_partition_keys()
        if any(has_manifest(root, dataset) for dataset in datasets_of(catalog, name))
    ]
    if models and wanted:
        first, last = f"{wanted[0]}|{models[0]}", f"{wanted[-1]}|{models[-1]}"
        yield Stage("evaluate", partitions=(first, last))
    yield from ANSWERS


def run_stage(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    stage: Stage,
    log: Callable[[str], None],
) -> dg.ExecuteInProcessResult:
    """Run one stage in this process, recorded in the instance like any other run.

    Raises
    ------
    dagster.Failure
        If a step fails; the message names the run.
    """
    job = definitions.resolve_job_def(stage.job)
    started = time.monotonic()
    run_id = str(uuid.uuid4())
    with kept_open(instance, run_id):
        result = job.execute_in_process(
            instance=instance,
            run_id=run_id,
            tags={**stage.tags, **run_tags()},
            partition_key=stage.partition,
            asset_selection=[dg.AssetKey(list(key)) for key in stage.assets] or None,
            run_config=QUIET,
            raise_on_error=False,
        )
    log(f"{stage.name}: {_outcome(result)} in {time.monotonic() - started:.1f} s")
    if not result.success:
        failed = [event for event in result.all_events if event.is_step_failure]
        raise dg.Failure(
            f"Run {result.run_id} of job {stage.job} failed in "
            + "; ".join(f"{event.step_key}: {_cause(event)}" for event in failed)
        )
    return result


def _outcome(result: dg.ExecuteInProcessResult) -> str:
    made = sum(
        event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION for event in result.all_events
    )
    checks = [
        event.asset_check_evaluation_data
        for event in result.all_events
        if event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    red = [check.check_name for check in checks if not check.passed]
    verdict = f", {len(checks) - len(red)} of {len(checks)} checks passed" if checks else ""
    which = f" (not {', '.join(red[:5])}{', …' if len(red) > 5 else ''})" if red else ""
    noun = "materialization" if made == 1 else "materializations"
    return f"{made} {noun}{verdict}{which}" if result.success else "failed"


def _cause(event: dg.DagsterEvent) -> str:
    error = event.step_failure_data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return error.message.strip() if error is not None else "unknown"


def run_all(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    lake: Lake,
    log: Callable[[str], None],
) -> None:
    """Run every stage that can run, in order; what fails is named at the end.

    Raises
    ------
    dagster.Failure
        After all stages, if one of them failed.
    """
    root, catalog = lake.open(), lake.load()
    failures: list[str] = []

    def attempt(stage: Stage) -> None:
        try:
            run_stage(definitions, instance, stage, log)
        except dg.Failure as failure:
            failures.append(failure.description or stage.job)

    def kept(suite: Suite, part: str) -> bool:
        # What is rendered costs far more than what is published: only what somebody has asked
        # for before is kept current.
        return not suite.made_here or any(
            has_manifest(root, spec.name) for spec in suite.parts[part]
        )

    def wanted(suite: Suite) -> bool:
        return any(kept(suite, part) for part in suite.parts)

    plan = attainable(root, catalog, wanted=wanted)
    for stage in stages_to_shards(plan, catalog, kept):
        if stage.job == "sources":
            attempt(stage)
            break
    ready = attainable(root, catalog, fetched=True, wanted=wanted)
    for name, lacking in ready.lacking.items():
        log(f"passed over {name}: {' '.join(lacking)}")
    for stage in stages_to_shards(ready, catalog, kept):
        if stage.job != "sources":
            attempt(stage)
    for stage in stages_to_frame_sets(root, instance, lake.video_folder()):
        attempt(stage)
    # Read again: what has been mined is a dataset now.
    for stage in stages_to_results(root, lake.load(), instance):
        attempt(stage)
    if failures:
        raise dg.Failure("Not everything could be done. " + " ".join(failures))


@dg.op(description="Runs the asset jobs in order, each as a run of its own.")
def run_everything(context: dg.OpExecutionContext, lake: Lake) -> None:
    """Fetch, seal, evaluate and measure everything that can be had."""
    from pipelines.definitions import build_definitions

    def log(line: str) -> None:
        context.log.info(line)
        print(f"  {line}", flush=True)

    run_all(build_definitions(lake=lake), context.instance, lake, log)


@dg.job(
    description="Every benchmark from its archive to the leaderboard; what cannot be had is named "
    "and passed over.",
    tags={"shiftlake/scope": "everything"},
)
def everything() -> None:
    """All stages."""
    run_everything()
