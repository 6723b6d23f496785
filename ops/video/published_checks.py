"""Truths about the published frame sets as they are sealed, read from their shards alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from ops.parallel import map_shards
from ops.shards.manifest import Manifest, ShardEntry, read_manifest
from ops.shards.reader import ShardDamaged, read_shard
from ops.storage import Root, open_root

# Both published sets were mined with ten frames to either side (Shankar et al., section 3.1).
K = 10


@dataclass
class _Read:
    """Of one shard: offsets and videos by set, and what cannot be read."""

    offsets: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    videos: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: list[str] = field(default_factory=list)
    decoded: int = 0


def check_published(root: Root | str, dataset: str) -> dict[str, tuple[list[str], dict[str, int]]]:
    """Check ImageNet-Vid-Robust or YTBB-Robust.

    Parameters
    ----------
    root : Root or str
    dataset : str
        A sealed dataset whose samples name their frame set and offset.

    Returns
    -------
    dict of str to (list of str, dict of str to int)
        Problems and numbers of each check:

        * ``within_k``: each set has its anchor once, no offset twice and none beyond 10;
        * ``one_video``: no set holds frames of two videos or lies in two shards;
        * ``decodes``: every frame decodes.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    # Decoding runs outside the interpreter's lock.
    read = [shard for _, shard in map_shards(
        partial(_read, root, manifest), manifest.shards, threads=True
    )]  # fmt: skip
    offsets: dict[str, list[int]] = defaultdict(list)
    shards: dict[str, int] = defaultdict(int)
    videos: dict[str, set[str]] = defaultdict(set)
    for shard in read:
        for name, found in shard.offsets.items():
            offsets[name] += found
            videos[name] |= shard.videos[name]
            shards[name] += 1
    far = [
        f"{name}: offsets {sorted(found)}"
        for name, found in sorted(offsets.items())
        if found.count(0) != 1 or len(set(found)) != len(found) or max(map(abs, found)) > K
    ]
    mixed = [
        f"{name}: frames of {sorted(found)} in {shards[name]} shards"
        for name, found in sorted(videos.items())
        if len(found) > 1 or shards[name] > 1
    ]
    pairs = sum(len(found) - 1 for found in offsets.values())
    return {
        "within_k": (far, {"k": K, "anchors": len(offsets), "pairs": pairs}),
        "one_video": (mixed, {"videos": len(set().union(*videos.values()))}),
        "decodes": (
            [problem for shard in read for problem in shard.problems],
            {"decoded": sum(shard.decoded for shard in read)},
        ),
    }


def _read(root: Root, manifest: Manifest, entry: ShardEntry) -> _Read:
    from ops.pixels import UndecodableImage
    from ops.video.frame_size import decoded_size

    read = _Read()
    try:
        for sample in read_shard(root, manifest, entry):
            name = str(sample.meta["frame_set"])
            read.offsets[name].append(int(sample.meta["frame_offset"]))
            read.videos[name].add(str(sample.meta["source_key"]))
            try:
                decoded_size(sample.image)
                read.decoded += 1
            except UndecodableImage as error:
                read.problems.append(f"{sample.key}: {error.found}")
    except ShardDamaged as error:
        read.problems.append(f"{entry.name}: expected {error.expected}, found {error.found}")
    return read
