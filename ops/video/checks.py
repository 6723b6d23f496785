"""Truths about mined frame sets: each check gives what is wrong, and what it counted."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from ops.parallel import map_shards
from ops.shards.manifest import Manifest, ShardEntry, read_manifest
from ops.shards.reader import ShardDamaged, read_shard
from ops.storage import Root, open_root
from ops.video.mining.tables import read_mined

# What is wrong, a line each, and the numbers to show.
Found = tuple[list[str], dict[str, Any]]
_Rows = list[dict[str, Any]]


@dataclass
class _Read:
    """What one shard holds: set, width, height and sha256 of every frame by key."""

    frames: dict[str, tuple[str, int, int, str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def check_frame_sets(root: Root | str, dataset: str) -> dict[str, Found]:
    """Check a sealed dataset of mined frame sets, its tables against its shards.

    Parameters
    ----------
    root : Root or str
    dataset : str
        ``frame_sets/<source>``.

    Returns
    -------
    dict of str to (list of str, dict)
        Problems and numbers of each check:

        * ``counts``: frames and what was left out are 2k + 1 for every anchor, none twice;
        * ``within_k``: every neighbour lies where its offset says, and no two frames are presented
          at one time;
        * ``one_video``: no set holds frames of two videos or lies in two shards;
        * ``decodes``: every frame decodes to the stated size and has the stated sha256, and the
          tables name all samples and no other.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    ShiftlakeError
        If one of its tables is not the one that was sealed.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    source = manifest.condition
    frames: _Rows = read_mined(root, source, "frames").drop_columns(["boxes"]).to_pylist()
    left_out: _Rows = read_mined(root, source, "left_out").to_pylist()
    videos: _Rows = read_mined(root, source, "videos").to_pylist()
    # Decoding and hashing run outside the interpreter's lock.
    read = partial(_read, root, manifest)
    shards = dict(map_shards(read, manifest.shards, threads=True))
    ordered = [shards[at] for at in range(len(manifest.shards))]
    return {
        "counts": _counts(manifest, frames, left_out, videos),
        "within_k": _within_k(manifest, frames),
        "one_video": _one_video(frames, ordered),
        "decodes": _decodes(frames, ordered),
    }


def _counts(manifest: Manifest, frames: _Rows, left_out: _Rows, videos: _Rows) -> Found:
    k = int(manifest.parameters["k"])
    places: dict[str, Counter[int]] = defaultdict(Counter)
    for row in (*frames, *left_out):
        places[row["frame_set"]][row["frame_offset"]] += 1
    expected = Counter(range(-k, k + 1))
    problems = [
        f"{frame_set}: {found.total()} of {2 * k + 1} places are accounted for"
        if found.total() != 2 * k + 1
        else f"{frame_set}: its places are not -{k} to {k}, each once"
        for frame_set, found in places.items()
        if found != expected
    ]
    sets = len({row["frame_set"] for row in frames})
    stated = sum(row["n_anchors"] for row in videos)
    if sets != stated:
        problems.append(f"{sets:,} sets have frames, the videos tell of {stated:,}")
    if len(frames) != manifest.n_samples:
        problems.append(f"{len(frames):,} frames in the table, {manifest.n_samples:,} sealed")
    numbers = {
        "anchors": sets,
        "frames": len(frames),
        "left_out": len(left_out),
        "accounted_for": len(frames) + len(left_out),
    }
    return problems, numbers


def _within_k(manifest: Manifest, frames: _Rows) -> Found:
    k = int(manifest.parameters["k"])
    renderer = manifest.renderer or {}
    stride = int(manifest.parameters["stride"])
    problems = []
    for frame_set, rows in _by_set(frames).items():
        anchors = [row for row in rows if row["frame_offset"] == 0]
        if len(anchors) != 1:
            problems.append(f"{frame_set}: {len(anchors)} anchors")
            continue
        zero = anchors[0]
        if frame_set != f"{zero['clip']}/{zero['frame']:06d}":
            problems.append(f"{frame_set}: its anchor is frame {zero['frame']} of {zero['clip']}")
        for row in rows:
            if abs(row["frame_offset"]) > k:
                problems.append(f"{row['sample_key']}: offset {row['frame_offset']}, beyond {k}")
            if row["frame"] != zero["frame"] + row["frame_offset"] * stride:
                problems.append(f"{row['sample_key']}: not where offset {row['frame_offset']} is")
        timed = [row for row in rows if row["seconds"] is not None]
        timed.sort(key=lambda row: row["frame"])
        for before, after in pairwise(timed):
            if after["seconds"] <= before["seconds"]:
                problems.append(f"{after['sample_key']}: not presented after the frame before it")
    numbers = {"k": k, "stride": stride, "seed": renderer.get("seed")}
    return problems, numbers


def _one_video(frames: _Rows, shards: list[_Read]) -> Found:
    problems = []
    for frame_set, rows in _by_set(frames).items():
        clips = sorted({row["clip"] for row in rows} | {row["video"] for row in rows})
        if len({row["clip"] for row in rows}) > 1 or len({row["video"] for row in rows}) > 1:
            problems.append(f"{frame_set}: frames of several videos, {clips}")
    where: dict[str, set[int]] = defaultdict(set)
    for position, shard in enumerate(shards):
        for frame_set, *_ in shard.frames.values():
            where[frame_set].add(position)
    problems += [
        f"{frame_set}: lies in {len(positions)} shards"
        for frame_set, positions in where.items()
        if len(positions) > 1
    ]
    return problems, {"videos": len({row["video"] for row in frames}), "shards": len(shards)}


def _decodes(frames: _Rows, shards: list[_Read]) -> Found:
    problems = [problem for shard in shards for problem in shard.problems]
    stored = {key: found for shard in shards for key, found in shard.frames.items()}
    for row in frames:
        stated = (row["frame_set"], row["width"], row["height"], row["sha256"])
        if (found := stored.pop(row["sample_key"], None)) is None:
            problems.append(f"{row['sample_key']}: in the table, in no shard")
        elif found != stated:
            problems.append(f"{row['sample_key']}: stated {stated[1:]}, found {found[1:]}")
    problems += [f"{key}: in a shard, not in the table" for key in stored]
    return problems, {"decoded": sum(len(shard.frames) for shard in shards)}


def _by_set(frames: _Rows) -> dict[str, _Rows]:
    sets: dict[str, _Rows] = defaultdict(list)
    for row in frames:
        sets[row["frame_set"]].append(row)
    return sets


def _read(root: Root, manifest: Manifest, entry: ShardEntry) -> _Read:
    """Read, hash and decode the frames of one shard."""
    from ops.pixels import UndecodableImage
    from ops.video.frame_size import decoded_size

    read = _Read()
    try:
        for sample in read_shard(root, manifest, entry, hash=True):
            data = sample.image or b""
            size = (int(sample.meta["width"]), int(sample.meta["height"]))
            try:
                size = decoded_size(data)
            except UndecodableImage as error:
                read.problems.append(f"{sample.key}: {error.found}")
            digest = hashlib.sha256(data).hexdigest()
            read.frames[sample.key] = (str(sample.meta["frame_set"]), *size, digest)
    except ShardDamaged as error:
        read.problems.append(f"{entry.name}: expected {error.expected}, found {error.found}")
    return read
