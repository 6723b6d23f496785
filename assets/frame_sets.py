"""Video sources and the frame sets mined from them: a partition a source."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.partitions import VIDEO_SOURCES
from assets.sources import OWNERS
from ops.shards import Manifest, has_manifest, read_manifest
from ops.storage import Root
from ops.video.datasets import mined_dataset
from ops.video.mining.tables import read_mined
from ops.video.sources import VideoSource, read_source

SOURCES_KEY = ["video", "sources"]
FRAME_SETS_KEY = ["video", "frame_sets"]

CHECKS = {
    "counts": "Frames and what was left out add up to 2k + 1 for every anchor.",
    "within_k": "Every neighbour lies within k steps of its anchor, which is there once.",
    "one_video": "No set holds a frame of another video, and none lies in two shards.",
    "decodes": "Every frame decodes, to the size that is stated, and has the stated sha256.",
}


def opened_source(lake: Lake, name: str) -> VideoSource:
    """The source of a partition.

    Raises
    ------
    dagster.Failure
        If no folder of sources is named.
    """
    folder = lake.video_folder()
    if folder is None:
        raise dg.Failure("SHIFTLAKE_VIDEOS names no folder of video sources.", allow_retries=False)
    return read_source(folder, name)


@dg.asset(
    key=SOURCES_KEY,
    group_name="video",
    partitions_def=VIDEO_SOURCES,
    owners=OWNERS,
    kinds={"file"},
)
def video_sources(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult:
    """Labelled videos on this machine: ImageNet-Vid, YouTube-BB, or any folder with a labels file.

    Nothing is fetched: which videos are missing is listed.
    """
    source = opened_source(lake, context.partition_key)
    keys = source.keys()
    # One at a time: the annotations of all clips are more than their files.
    missing = [
        (clip.file, clip.problem or "not on disk")
        for clip in map(source.clip, keys)
        if clip.path is None or clip.problem
    ]
    for file, reason in missing[:1000]:
        context.log.info(f"{file}: {reason}")
    return dg.MaterializeResult(
        metadata={
            "kind": source.entry.kind,
            "label_space": source.label_space,
            "labels_of_neighbours": "their own" if source.rule == "frame" else "the anchor's",
            "videos": len(keys),
            "missing": len(missing),
            "missing_videos": dg.MetadataValue.table(
                [
                    dg.TableRecord({"file": file, "reason": reason})
                    for file, reason in missing[:200]
                ],
                schema=_columns("file", "reason"),
            ),
            "mining": dg.MetadataValue.json(source.entry.mining.model_dump(mode="json")),
            "synthetic": source.entry.synthetic,
        },
        data_version=dg.DataVersion(source.fingerprint()[:16]),
    )


@dg.asset(
    key=FRAME_SETS_KEY,
    group_name="video",
    deps=[SOURCES_KEY],
    partitions_def=VIDEO_SOURCES,
    owners=OWNERS,
    kinds={"webdataset", "parquet"},
    pool="render",
    check_specs=[
        dg.AssetCheckSpec(name, asset=FRAME_SETS_KEY, blocking=True, description=text,
                          partitions_def=VIDEO_SOURCES)
        for name, text in CHECKS.items()
    ],
)  # fmt: skip
def frame_sets(context: dg.AssetExecutionContext, lake: Lake) -> Iterator[Any]:
    """Anchors drawn by video, and the frames around each, before anybody has looked at them.

    Every frame is kept, also where a review rejects it later: what review changes is then a
    query, and no model runs again.
    """
    from ops.video.checks import check_frame_sets
    from ops.video.mining import mine

    root, catalog = lake.open(), lake.load()
    source = opened_source(lake, context.partition_key)
    name = mined_dataset(context.partition_key)
    before = read_manifest(root, name).version if has_manifest(root, name) else None
    started = time.monotonic()
    manifest = mine(root, catalog, source, workers=lake.processes, log=context.log.info)
    seconds = time.monotonic() - started
    yield dg.MaterializeResult(
        metadata=_metadata(root, manifest, None if before == manifest.version else seconds),
        data_version=dg.DataVersion(manifest.version),
    )
    found = check_frame_sets(root, name)
    for check in CHECKS:
        problems, numbers = found[check]
        yield dg.AssetCheckResult(
            check_name=check,
            passed=not problems,
            metadata={**numbers, **({"problems": "\n".join(problems[:50])} if problems else {})},
            description=problems[0] if problems else None,
        )


def _metadata(root: Root, manifest: Manifest, seconds: float | None) -> dict[str, Any]:
    """What a person wants to see; `seconds` is None if all was sealed before."""
    from ops.video.contact_strip import contact_strip

    source = manifest.condition
    videos = read_mined(root, source, "videos")
    left_out = Counter(read_mined(root, source, "left_out")["reason"].to_pylist())
    states = Counter(videos["status"].to_pylist())
    bad = [row for row in videos.to_pylist() if row["status"] != "ok"]
    frames = read_mined(root, source, "frames")
    sets = len(set(frames["frame_set"].to_pylist()))
    metadata: dict[str, Any] = {}
    if manifest.synthetic:
        metadata["warning"] = dg.MetadataValue.md("**Synthetic images, drawn by a program.**")
    strip = contact_strip(root, source)
    if strip is not None:
        metadata["contact_strip"] = dg.MetadataValue.md(f"![frame sets]({strip})")
    metadata |= {
        "dagster/row_count": manifest.n_samples,
        "anchors": sets,
        "pairs": manifest.n_samples - sets,
        "videos": dg.MetadataValue.json(dict(states)),
        "left_out": dg.MetadataValue.json(dict(left_out)),
        "videos_without_sets": dg.MetadataValue.table(
            [
                dg.TableRecord(
                    {"file": row["file"], "status": row["status"], "reason": row["reason"] or ""}
                )
                for row in bad[:200]
            ],
            schema=_columns("file", "status", "reason"),
        ),
        "picture_types": dg.MetadataValue.json(
            dict(Counter(kind or "unknown" for kind in frames["pict_type"].to_pylist()))
        ),
        "mining": dg.MetadataValue.json(manifest.renderer or {}),
        "bytes": manifest.bytes,
        "shards": len(manifest.shards),
        "version": manifest.version,
        "sealed_before": seconds is None,
        "review": dg.MetadataValue.md(f"```\nshiftlake review {source}\n```"),
        "sql": dg.MetadataValue.md(
            f"```sql\nSELECT * FROM frame_pairs WHERE source = '{source}' "
            "ORDER BY suspicion DESC;\n```"
        ),
    }
    if seconds:
        metadata |= {
            "seconds": round(seconds, 3),
            "videos_per_second": round(videos.num_rows / seconds, 2),
        }
    return metadata


def _columns(*names: str) -> dg.TableSchema:
    return dg.TableSchema([dg.TableColumn(name, "string") for name in names])
