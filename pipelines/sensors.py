"""Sensors: a new model, a watched folder, a changed upstream, a changed prediction."""

import json
import os
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.lake import Lake
from assets.partitions import BENCHMARKS, MODELS
from assets.suites import source_files
from ops.errors import ShiftlakeError
from ops.fetch import probe, read_receipt, standing

if TYPE_CHECKING:
    from ops.models import ModelEntry

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
) -> dg.RunRequest:
    """Ask for results once for all predictions since the last look.

    An automation condition would lose predictions that are recorded while results are being
    computed; a cursor over the events does not.
    """
    return dg.RunRequest(run_key=context.cursor)


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Gives every registered model its partition, and evaluates new ones once.",
)
def new_models(context: dg.SensorEvaluationContext, lake: Lake) -> dg.SensorResult | dg.SkipReason:
    """Registry entries without a partition become partitions with a run each."""
    from ops.models import list_models, read_model

    root = lake.open()
    known = set(context.instance.get_dynamic_partitions("model"))
    new = [name for name in list_models(root) if name not in known]
    if not new:
        return dg.SkipReason("every registered model has its partition")
    return dg.SensorResult(
        run_requests=[
            _evaluation(entry, entry.weights.sha256 if entry.weights else "")
            for entry in (read_model(root, name) for name in new)
        ],
        dynamic_partitions_requests=[MODELS.build_add_request(new)],
    )


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Registers and evaluates what appears in the folder or S3 prefix named by "
    f"{WATCHED_VARIABLE}: a YAML file beside its weights.",
)
def watched_models(
    context: dg.SensorEvaluationContext, lake: Lake
) -> dg.SensorResult | dg.SkipReason:
    """Register new and changed models of the watched place; each is evaluated once.

    The cursor holds what was registered, and what was refused, so that neither is tried again
    before it changes.
    """
    location = os.environ.get(WATCHED_VARIABLE, "")
    if not location:
        return dg.SkipReason(f"{WATCHED_VARIABLE} names no folder or prefix to watch")
    from ops.models.watched import register_watched
    from ops.models.watched import watched_models as models_at

    root = lake.open()
    seen: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
    requests, names, waiting = [], [], []
    try:
        found = models_at(location)
    except ShiftlakeError as error:
        return dg.SkipReason(f"{error.what} {error.where}: {error.remedy}")
    for model in found:
        if not model.ready:
            waiting.append(f"{model.name}: {model.waiting or model.problem}")
        elif seen.get(model.name) != model.stamp:
            seen[model.name] = model.stamp
            try:
                entry = register_watched(root, model)
            except ShiftlakeError as error:
                context.log.error(str(error))
                waiting.append(f"{model.name}: {error.what}")
                continue
            requests.append(_evaluation(entry, model.stamp))
            names.append(entry.name)
    context.update_cursor(json.dumps(seen, sort_keys=True))
    if not names:
        return dg.SkipReason("; ".join(waiting) or f"nothing new in {location}")
    for reason in waiting:
        context.log.info(reason)
    return dg.SensorResult(
        run_requests=requests, dynamic_partitions_requests=[MODELS.build_add_request(names)]
    )


def _evaluation(entry: "ModelEntry", stamp: str) -> dg.RunRequest:
    """All benchmarks of one model, once for what `stamp` stands for."""
    first, last = (BENCHMARKS.get_partition_keys()[at] for at in (0, -1))
    return dg.RunRequest(
        run_key=f"{entry.name}-{stamp}",
        tags={
            "dagster/asset_partition_range_start": f"{first}|{entry.name}",
            "dagster/asset_partition_range_end": f"{last}|{entry.name}",
        },
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
