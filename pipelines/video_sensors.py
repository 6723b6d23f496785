"""Sensors of the video sets: a new source, a frozen review, a reviewed set."""

import dagster as dg

from assets.frame_sets import FRAME_SETS_KEY
from assets.lake import Lake
from assets.partitions import VIDEO_SOURCES
from ops.errors import ShiftlakeError
from ops.shards import has_manifest, read_manifest
from ops.storage import Root
from ops.video.datasets import mined_dataset, reviewed_dataset
from ops.video.review.freeze import frozen_versions
from ops.video.sources import VIDEOS_VARIABLE, list_sources


@dg.sensor(
    job_name="frame_sets",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Gives every video source in the folder {VIDEOS_VARIABLE} names its partition, "
    "and mines it once; what is mined already stays as it is.",
)
def new_video_sources(
    context: dg.SensorEvaluationContext, lake: Lake
) -> dg.SensorResult | dg.SkipReason:
    """Sources that have no partition yet get one, and a run unless they are mined.

    What somebody mined on the command line, perhaps with other options than source.yaml has, may
    be under review: mining it anew would take the frames away from under the reviewers.
    """
    folder = lake.video_folder()
    if folder is None or not folder.is_dir():
        return dg.SkipReason(f"{VIDEOS_VARIABLE} names no folder of video sources")
    known = set(context.instance.get_dynamic_partitions("video_source"))
    new = [name for name in list_sources(folder) if name not in known]
    if not new:
        return dg.SkipReason("every video source has its partition")
    root = lake.open()
    mined = [name for name in new if has_manifest(root, mined_dataset(name))]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(run_key=f"mine-{name}", partition_key=name)
            for name in new
            if name not in mined
        ],
        dynamic_partitions_requests=[VIDEO_SOURCES.build_add_request(new)],
        asset_events=[_told(root, name) for name in mined],
    )


def _told(root: Root, source: str) -> dg.AssetMaterialization:
    """That a source was mined elsewhere."""
    try:
        metadata = {"version": read_manifest(root, mined_dataset(source)).version}
    except ShiftlakeError as error:
        metadata = {"problem": error.what}
    return dg.AssetMaterialization(
        asset_key=dg.AssetKey(FRAME_SETS_KEY),
        partition=source,
        description="mined on the command line",
        metadata=metadata,
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
    waiting = []
    for name in context.instance.get_dynamic_partitions("video_source"):
        try:
            step = _unsealed(root, name)
        except ShiftlakeError as error:
            # One that is damaged keeps no other waiting.
            context.log.error(f"{name}: {error}")
            continue
        if step is not None:
            waiting.append((name, step))
    if not waiting:
        return dg.SkipReason("every frozen review is sealed as a dataset")
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(run_key=f"{name}-{step}", partition_key=name) for name, step in waiting
        ]
    )


def _unsealed(root: Root, source: str) -> str | None:
    """The step from what the reviewed set is made of to the newest frozen version, if there is one.

    Not the version alone, for it may come back: decisions are withdrawn, and frozen as before.
    """
    versions = frozen_versions(root, source)
    if not versions:
        return None
    dataset = reviewed_dataset(source)
    try:
        sealed = read_manifest(root, dataset) if has_manifest(root, dataset) else None
    except ShiftlakeError:
        sealed = None
    made_of = None if sealed is None else sealed.parameters.get("frozen_version")
    return None if made_of == versions[-1] else f"{versions[-1]}-after-{sealed and sealed.version}"


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
