"""Sensors of the video sets: a new source, a frozen review, a reviewed set."""

import dagster as dg

from assets.lake import Lake
from assets.partitions import VIDEO_SOURCES
from ops.errors import ShiftlakeError
from ops.shards import has_manifest, read_manifest
from ops.storage import Root
from ops.video.review.freeze import frozen_versions
from ops.video.sources import VIDEOS_VARIABLE, list_sources


@dg.sensor(
    job_name="frame_sets",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Gives every video source in the folder {VIDEOS_VARIABLE} names its partition, "
    "and mines it once.",
)
def new_video_sources(
    context: dg.SensorEvaluationContext, lake: Lake
) -> dg.SensorResult | dg.SkipReason:
    """Sources that have no partition yet get one, and a run."""
    folder = lake.video_folder()
    if folder is None or not folder.is_dir():
        return dg.SkipReason(f"{VIDEOS_VARIABLE} names no folder of video sources")
    known = set(context.instance.get_dynamic_partitions("video_source"))
    new = [name for name in list_sources(folder) if name not in known]
    if not new:
        return dg.SkipReason("every video source has its partition")
    return dg.SensorResult(
        run_requests=[dg.RunRequest(run_key=f"mine-{name}", partition_key=name) for name in new],
        dynamic_partitions_requests=[VIDEO_SOURCES.build_add_request(new)],
    )


@dg.sensor(
    job_name="reviewed_frame_sets",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Turns a frozen review into a new version of the reviewed frame sets.",
)
def frozen_reviews(
    context: dg.SensorEvaluationContext, lake: Lake
) -> dg.SensorResult | dg.SkipReason:
    """The newest frozen review of each source, where the reviewed set is of another."""
    root = lake.open()
    waiting = [
        (name, frozen)
        for name in context.instance.get_dynamic_partitions("video_source")
        if (frozen := _unsealed(root, name)) is not None
    ]
    if not waiting:
        return dg.SkipReason("every frozen review is sealed as a dataset")
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(run_key=f"{name}-{frozen}", partition_key=name)
            for name, frozen in waiting
        ]
    )


def _unsealed(root: Root, source: str) -> str | None:
    """Newest frozen version of a source, unless the reviewed set is made of it."""
    versions = frozen_versions(root, source)
    if not versions:
        return None
    dataset = f"reviewed_frame_sets/{source}"
    try:
        sealed = read_manifest(root, dataset) if has_manifest(root, dataset) else None
    except ShiftlakeError:
        sealed = None
    if sealed is not None and sealed.parameters.get("frozen_version") == versions[-1]:
        return None
    return versions[-1]


@dg.asset_sensor(
    asset_key=dg.AssetKey(["video", "reviewed_frame_sets"]),
    job_name="results",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Scores models anew after a new reviewed set; none is run.",
)
def results_follow_reviews(
    context: dg.SensorEvaluationContext, asset_event: dg.EventLogEntry
) -> dg.RunRequest:
    """Ask for results once for every new reviewed set."""
    return dg.RunRequest(run_key=f"reviewed-{context.cursor}")
