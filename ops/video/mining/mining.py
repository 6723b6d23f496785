"""From a source of labelled videos to a sealed dataset of frame sets.

A mining may stop anywhere. What was published stays, and the next one makes only what is missing;
the bytes do not depend on how often it stopped or on how many workers it had. A video that is
added changes neither the anchors nor the frames of another one.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.parallel import map_shards
from ops.shards.manifest import Manifest
from ops.shards.resume import finished_shards
from ops.shards.seal import Header, seal
from ops.shards.write import ShardRecord
from ops.storage import Root, open_root, paths
from ops.video.datasets import mined_dataset
from ops.video.mining.assembly import Seals, write_tables
from ops.video.mining.examined import ExaminedClip
from ops.video.mining.layout import RULES, ShardLayout, lay_out, libraries, mined_version
from ops.video.mining.parts import has_parts
from ops.video.mining.standing import standing_mining

if TYPE_CHECKING:
    from ops.catalog import Catalog
    from ops.video.sources import VideoSource

Progress = Callable[[str, int, int], None]
Log = Callable[[str], None]
_CLIPS_A_TASK = 16


def mine(
    root: Root | str,
    catalog: Catalog,
    source: VideoSource,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
) -> Manifest:
    """Mine a source and seal ``frame_sets/<source>``; return at once if it is sealed as it is.

    Parameters
    ----------
    root : Root or str
        Takes the shards and the tables.
    catalog : Catalog
        Says how many classes the label space has.
    source : VideoSource
        Videos, labels, and the choices of the mining.
    workers : int, optional
        Processes; the usable CPUs by default. The result does not depend on it.
    progress : callable, optional
        Called as ``progress(dataset, sets done, sets in all)``.
    log : callable, optional
        Takes a line of text now and then.

    Returns
    -------
    Manifest
        Its version also names the tables beside the shards, and their hashes stand in it.

    Raises
    ------
    ShiftlakeError
        If no video gives a frame set, a video changes meanwhile, or the labels cannot be read. A
        video that is missing, broken or without labels is a row of the tables, and no error.
    """
    root = open_root(root)
    dataset = mined_dataset(source.name)
    pickled = pickle.dumps(source)
    labels = source.fingerprint()
    clips = _examine_all(source, pickled, _n_classes(catalog, source), workers)
    version = mined_version(source, labels, clips)
    standing = standing_mining(root, source.name, version)
    if standing is not None:
        return _told_anew(root, source, standing)
    n_sets = sum(len(clip.anchors) for clip in clips)
    if not n_sets:
        raise _nothing(source, clips)
    if log:
        states = Counter(str(clip.row["status"]) for clip in clips)
        told = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
        log(f"{dataset}: {len(clips):,} videos ({told}), {n_sets:,} frame sets")
    places = len(source.entry.mining.offsets)
    layouts = lay_out(clips, places, version, source.name)
    records = _mine_all(root, source.name, pickled, version, clips, layouts, workers, progress, log)
    names = [layout.name for layout in layouts]
    tables = write_tables(root, source.name, version, names, clips, places)
    if not tables["frames"]["rows"]:
        raise _nothing(source, clips)
    _require_same_labels(source, labels)
    # A shard of which every anchor was damaged is no shard.
    for record in records:
        if not record.entry.n_samples:
            root.remove(paths.shard(dataset, record.entry.name))
    manifest = seal(
        root,
        _header(source, labels, tables),
        version,
        [record for record in records if record.entry.n_samples],
        written=tables["frames"]["rows"],
    )
    root.remove_folder(paths.shard_part(dataset, version))
    if log:
        log(f"{dataset}: sealed {manifest.n_samples:,} frames as {version}")
    return manifest


def _told_anew(root: Root, source: VideoSource, standing: Manifest) -> Manifest:
    """The seal with what the source says of itself, which is no part of what was mined."""
    said = {"synthetic": source.entry.synthetic, "licence": source.entry.licence}
    if said == standing.model_dump(include=set(said)):
        return standing
    manifest = standing.model_copy(update=said)
    root.write_json(paths.manifest(manifest.name), manifest.model_dump(mode="json"))
    return manifest


def _n_classes(catalog: Catalog, source: VideoSource) -> int:
    if source.label_space not in catalog.label_spaces:
        raise ShiftlakeError(
            "The labels of a source are of no known label space.",
            expected=f"one of {', '.join(catalog.label_spaces)}",
            found=source.label_space,
            where=f"source {source.name}",
            remedy="correct label_space in source.yaml",
        )
    return catalog.label_spaces[source.label_space]


def _examine_all(
    source: VideoSource, pickled: bytes, n_classes: int, workers: int | None
) -> list[ExaminedClip]:
    """A first look at all clips, in the order of their keys."""
    # Not at the top: OpenCV and FFmpeg would be loaded by whoever only asks what was mined. The
    # processes get them from the server they are forked from, which loads the task's module.
    from ops.video.mining.examining import ExamineTask, examine, opened

    # What this process keeps of an earlier call may be labels that have changed since.
    opened.cache_clear()
    keys = sorted(source.keys())
    tasks = [
        ExamineTask(pickled, tuple(keys[start : start + _CLIPS_A_TASK]), n_classes)
        for start in range(0, len(keys), _CLIPS_A_TASK)
    ]
    found = dict(map_shards(examine, tasks, workers=workers))
    return [clip for at in range(len(tasks)) for clip in found[at]]


def _mine_all(
    root: Root,
    source: str,
    pickled: bytes,
    version: str,
    clips: Sequence[ExaminedClip],
    layouts: Sequence[ShardLayout],
    workers: int | None,
    progress: Progress | None,
    log: Log | None,
) -> list[ShardRecord]:
    """Mine what is not finished yet; the notes of all shards."""
    from ops.video.mining.shard import MiningTask, mine_shard

    dataset = mined_dataset(source)
    stamps = {clip.key: clip.stamp for clip in clips if clip.stamp is not None}
    records = {
        name: record
        for name, record in finished_shards(root, dataset, version).items()
        if has_parts(root, source, version, name)
    }
    todo = [layout for layout in layouts if layout.name not in records]
    if records and log:
        log(f"{dataset}: {len(records)} of {len(layouts)} shards were finished before")
    tasks = [
        MiningTask(
            root,
            pickled,
            version,
            layout.name,
            layout.sets,
            {key: stamps[key] for key, _ in layout.sets},
        )
        for layout in todo
    ]
    total = sum(len(layout.sets) for layout in layouts)
    seen = total - sum(len(layout.sets) for layout in todo)
    for position, record in map_shards(mine_shard, tasks, workers=workers):
        records[todo[position].name] = record
        seen += len(todo[position].sets)
        if progress:
            progress(dataset, seen, total)
    return list(records.values())


def _require_same_labels(source: VideoSource, labels: str) -> None:
    """Refuse to seal under the hash of labels that have been replaced meanwhile."""
    if (now := source.fingerprint()) != labels:
        raise ShiftlakeError(
            "The labels changed while videos were mined; nothing was sealed.",
            expected=f"labels of sha256 {labels}",
            found=f"sha256 {now}",
            where=f"source {source.name}",
            remedy="mine again when nobody writes them any more",
        )


def _header(source: VideoSource, labels: str, tables: Seals) -> Header:
    config = source.entry.mining
    return Header(
        name=mined_dataset(source.name),
        label_space=source.label_space,
        synthetic=source.entry.synthetic,
        parameters={"k": config.k, "stride": config.stride, "rule": source.rule},
        renderer={
            "name": "mining",
            "version": RULES,
            "parameters": config.model_dump(mode="json"),
            "seed": config.seed,
            "labels_sha256": labels,
            "libraries": libraries(),
            "tables": tables,
        },
        licence=source.entry.licence,
    )


def _nothing(source: VideoSource, clips: Sequence[ExaminedClip]) -> ShiftlakeError:
    states = Counter(str(clip.row["status"]) for clip in clips)
    reasons = [f"{clip.row['file']}: {clip.row['reason']}" for clip in clips if clip.row["reason"]]
    return ShiftlakeError(
        "No frame set could be mined.",
        expected="at least one video with a frame that shows a class",
        found=f"{len(clips):,} videos: {dict(sorted(states.items()))}, such as {reasons[:3]}",
        where=f"source {source.name}",
        remedy="shiftlake video check shows what the labels name and what is on disk",
    )
