"""Read a sealed dataset of frames set by set: an anchor, and the frames around it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.shards.reader import read_shard
from ops.shards.sample import Sample
from ops.storage import Root, open_root


def read_frame_sets(root: Root | str, dataset: str) -> Iterator[list[Sample]]:
    """Yield the frame sets of a dataset, one at a time, in the order of their keys.

    Works for mined sets, for reviewed ones, and for both published video benchmarks.

    Parameters
    ----------
    root : Root or str
    dataset : str
        ``<benchmark>/<condition>``, such as ``frame_sets/<source>``.

    Yields
    ------
    list of Sample
        The frames of one set by offset; that with offset 0 is the anchor.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    ShardDamaged
        If a shard is not the one that was sealed.
    ShiftlakeError
        If the frames of a set do not lie together.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    seen: set[str] = set()
    for entry in manifest.shards:
        samples = read_shard(root, manifest, entry)
        for frame_set, frames in groupby(samples, key=lambda sample: _set_of(sample, dataset)):
            if frame_set in seen:
                raise ShiftlakeError(
                    "The frames of a set do not lie together.",
                    expected="a set in one run of samples of one shard",
                    found=f"more frames of {frame_set}",
                    where=f"{dataset}/{entry.name}",
                    remedy="make the dataset again",
                )
            seen.add(frame_set)
            yield sorted(frames, key=lambda sample: int(sample.meta["frame_offset"]))


def _set_of(sample: Sample, dataset: str) -> str:
    if "frame_set" not in sample.meta:
        raise ShiftlakeError(
            f"{dataset} holds no frame sets.",
            expected="samples with a frame_set and a frame_offset",
            found=sorted(sample.meta),
            where=f"{dataset}: {sample.key}",
            remedy="name a dataset of video frames, such as frame_sets/<source>",
        )
    return str(sample.meta["frame_set"])
