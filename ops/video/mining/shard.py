"""Mine the sets of one shard: decode them, publish the tar, and note what its tables will hold."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ops.shards.sample import Sample
from ops.shards.write import ShardRecord, ShardWriter
from ops.storage import Root
from ops.video.clip import Clip
from ops.video.datasets import mined_dataset
from ops.video.decoding import UnreadableVideo, Video, open_video
from ops.video.mining.examining import opened
from ops.video.mining.identity import Stamp, require_same
from ops.video.mining.neighbours import PlannedSet, plan_set
from ops.video.mining.parts import PARTS, write_part
from ops.video.mining.published import plan_published
from ops.video.mining.rows import Rows, samples_of
from ops.video.mining.seen import SeenFrames
from ops.video.mining.similarity import one_thread
from ops.video.mining.taking import TakenSet, take_set

if TYPE_CHECKING:
    from ops.video.sources import VideoSource

# A decoder keeps some twenty pictures of 1.5 bytes a pixel, and in PyAV it is part of a cycle, so
# that closing its file frees nothing: left to itself, Python lets several of them pile up.
_DECODER = 30
_MOST_DECODERS = 192 << 20


@dataclass(frozen=True)
class MiningTask:
    """All a worker needs to make one shard.

    Attributes
    ----------
    root : Root
    source : bytes
        The pickled source.
    version, name : str
        Of the mining, and of the shard.
    sets : tuple of (str, int)
        Clip and anchor of every set, in the order of their keys.
    stamps : dict of str to Stamp
        What the file of each clip looked like when it was hashed.
    """

    root: Root
    source: bytes
    version: str
    name: str
    sets: tuple[tuple[str, int], ...]
    stamps: dict[str, Stamp]


def mine_shard(task: MiningTask) -> ShardRecord:
    """Mine and publish one shard, then the note that it is finished.

    Raises
    ------
    ShiftlakeError
        If a video changed since it was hashed, or the disk is full; nothing is published then.
    """
    source = opened(task.source)
    dataset = mined_dataset(source.name)
    rows: Rows = {table: [] for table in PARTS}
    decoders = 0
    with one_thread(), ShardWriter(task.root, dataset, task.version, task.name) as writer:
        for key, sets in groupby(task.sets, key=itemgetter(0)):
            anchors = [anchor for _, anchor in sets]
            for samples, found in _mined(source, key, anchors, task.stamps[key]):
                # Each forgotten once it is written: of large pictures two sets are much.
                while samples:
                    writer.add(samples.pop(0))
                for table in PARTS:
                    rows[table] += found[table]
                decoders += _DECODER * _pixels(found)
            if decoders > _MOST_DECODERS:
                gc.collect()
                decoders = 0
        # Before the note that finish() writes: whoever finds the note finds its rows.
        for table in PARTS:
            write_part(task.root, source.name, task.version, task.name, table, rows[table])
        return writer.finish()


def _pixels(rows: Rows) -> int:
    """Pixels of one picture of a set."""
    return max((row["width"] * row["height"] for row in rows["frames"]), default=0)


def _mined(
    source: VideoSource, key: str, anchors: list[int], stamp: Stamp
) -> Iterator[tuple[list[Sample], Rows]]:
    """Samples and rows of the sets of one clip."""
    clip = source.clip(key)
    assert clip.path is not None
    require_same(clip.path, stamp, clip.file)
    hd_is_bt709 = source.entry.mining.untagged_hd_is_bt709
    with open_video(clip.path, fps=clip.fps, untagged_hd_is_bt709=hd_is_bt709) as video:
        seen = SeenFrames(clip, video.seconds, video.width, video.height)
        for anchor in anchors:
            planned = _planned(source, clip, seen, video, anchor)
            yield samples_of(_taken(video, planned, source), clip, seen, video.fps, source.name)
    require_same(clip.path, stamp, clip.file)


def _planned(
    source: VideoSource, clip: Clip, seen: SeenFrames, video: Video, anchor: int
) -> PlannedSet:
    config = source.entry.mining
    published = source.frame_sets(clip.key)
    if published is None:
        return plan_set(anchor, seen, *_times(video), config, source.rule)
    return plan_published(anchor, published, video.n_frames, config)


def _times(video: Video) -> tuple[npt.NDArray[np.float64], float]:
    """When frames are presented, and their rate; of numbered pictures their numbers, and 1."""
    numbers = getattr(video, "numbers", None)
    if numbers is None or np.isfinite(video.fps):
        return video.seconds, video.fps
    return np.asarray(numbers, np.float64), 1.0


def _taken(video: Video, planned: PlannedSet, source: VideoSource) -> TakenSet:
    try:
        return take_set(video, planned, source.entry.mining)
    except UnreadableVideo as error:
        # The index promised what the decoder could not keep.
        reason = str(error.found)
        lost = TakenSet(planned.anchor)
        lost.left_out.update({at: (why, None) for at, why in planned.left_out.items()})
        lost.left_out.update({each.offset: ("damaged", reason) for each in planned.frames})
        return lost
