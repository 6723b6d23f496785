"""Sensors: a new model, a watched folder, a changed upstream, a changed prediction."""

import hashlib
import json
import os
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.partitions import BENCHMARKS, MODELS
from assets.suites import source_files
from ops.errors import ShiftlakeError
from ops.fetch import probe, read_receipt, standing
from pipelines.registration import Watched

WATCHED_VARIABLE = "SHIFTLAKE_MODELS"


@dg.asset_sensor(
    asset_key=dg.AssetKey(["evaluation", "predictions"]),
    job_name="results",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Computes metrics and leaderboard anew after new predictions.",
)
def results_follow_predictions(
    context: dg.SensorEvaluationContext, asset_event: dg.EventLogEntry
) -> dg.RunRequest | dg.SkipReason:
    """Ask for results once for all predictions since the last look.

    A run that waits in the queue will see them, too; one that has begun may not.

    An automation condition would lose predictions that are recorded while results are being
    computed; a cursor over the events does not.
    """
    waiting = dg.RunsFilter(
        job_name="results",
        statuses=[dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED],
    )
    if context.instance.get_runs_count(waiting):
        return dg.SkipReason("a run of results waits already, and will see these predictions")
    return dg.RunRequest(run_key=context.cursor)


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Gives every registered model its partition, and evaluates what is new or changed.",
)
def new_models(context: dg.SensorEvaluationContext, lake: Lake) -> dg.SensorResult | dg.SkipReason:
    """Registry entries that are new, or other than at the last look, get a run each."""
    from ops.models import list_models, read_model

    root = lake.open()
    partitions = set(context.instance.get_dynamic_partitions("model"))
    seen: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
    requests: list[dg.RunRequest] = []
    for name in list_models(root):
        try:
            entry = read_model(root, name)
        except ShiftlakeError as error:
            # One damaged entry must not keep the others from their runs.
            context.log.error(str(error))
            continue
        if entry.imported:
            # Its results are here, and it cannot be run.
            continue
        stamp = hashlib.sha256(entry.model_dump_json().encode()).hexdigest()[:16]
        # Who had a partition before the first look was evaluated by whoever gave it.
        if seen.get(name, stamp if name in partitions else "") != stamp:
            requests.append(_evaluation(name, stamp))
        seen[name] = stamp
    context.update_cursor(json.dumps(seen, sort_keys=True))
    new = [name for name in seen if name not in partitions]
    if not requests and not new:
        return dg.SkipReason("every registered model is known as it is")
    return dg.SensorResult(
        run_requests=requests, dynamic_partitions_requests=[MODELS.build_add_request(new)]
    )


def _evaluation(name: str, stamp: str) -> dg.RunRequest:
    """All benchmarks of one model, once for what `stamp` stands for."""
    first, last = (BENCHMARKS.get_partition_keys()[at] for at in (0, -1))
    return dg.RunRequest(
        run_key=f"{name}-{stamp}",
        tags={
            "dagster/asset_partition_range_start": f"{first}|{name}",
            "dagster/asset_partition_range_end": f"{last}|{name}",
        },
    )


@dg.sensor(
    job_name="register",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Registers what appears in the folder or S3 prefix named by {WATCHED_VARIABLE}: "
    "a YAML file beside its weights.",
)
def watched_models(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Ask for a registration of every new or changed model of the watched place.

    Large weights take longer to register than a sensor may. A run that fails stays on the page with
    its reason, and can be tried again there.
    """
    location = os.environ.get(WATCHED_VARIABLE, "")
    if not location:
        return dg.SkipReason(f"{WATCHED_VARIABLE} names no folder or prefix to watch")
    from ops.models.watched import watched_models as models_at

    try:
        found = models_at(location)
    except ShiftlakeError as error:
        return dg.SkipReason(f"{error.what} {error.where}: {error.remedy}")
    waiting = [f"{m.name}: {m.waiting or m.problem}" for m in found if not m.ready]
    seen: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
    new = [model for model in found if model.ready and seen.get(model.name) != model.stamp]
    context.update_cursor(json.dumps(seen | {m.name: m.stamp for m in new}, sort_keys=True))
    if not new:
        return dg.SkipReason("; ".join(waiting) or f"nothing new in {location}")
    for reason in waiting:
        context.log.info(reason)
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=f"{model.name}-{model.stamp}",
                run_config=dg.RunConfig(
                    ops={"register_model": Watched(location=location, name=model.name)}
                ),
            )
            for model in new
        ]
    )


@dg.sensor(
    job_name="sources",
    minimum_interval_seconds=3600,
    description="Fetches again what the catalog (or its overlay) states otherwise than the receipt "
    "of the copy at hand, and what the publisher offers otherwise where no hash is stated.",
)
def changed_upstream(
    context: dg.SensorEvaluationContext, lake: Lake
) -> dg.SensorResult | dg.SkipReason:
    """Compare every receipt with the catalog, and unhashed files with what is offered now."""
    root, catalog = lake.open(), lake.load()
    changed: dict[tuple[str, str], str] = {}
    again: dict[str, Any] = {}
    for key, packaged in source_files().items():
        file = catalog.file(packaged.benchmark, packaged.id)
        receipt = read_receipt(root, file)
        if receipt is None:
            continue
        if standing(root, file) is None:
            stated = {**file.hashes, "bytes": file.bytes.value}
            changed[key] = f"the copy at hand, {receipt.sha256}, is not what is stated: {stated}"
        elif not file.hashes and (offer := probe(file)) and (reason := offer.differs(receipt)):
            changed[key] = f"{reason}; the copy at hand is {receipt.sha256}"
            again["__".join(key)] = {"config": {"again": True}}
    if not changed:
        return dg.SkipReason("every archive at hand is the one the catalog states")
    for key, reason in changed.items():
        context.log.info(f"{'/'.join(key)}: {reason}")
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key="|".join(sorted(f"{key}:{reason}" for key, reason in changed.items())),
                asset_selection=[dg.AssetKey(list(key)) for key in changed],
                run_config={"ops": again},
            )
        ]
    )
