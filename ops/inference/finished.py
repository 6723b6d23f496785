"""The shards of an evaluation that are done: by an earlier process, or just now."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from ops.inference.expected import frames
from ops.inference.files import Finished, kept, publish
from ops.inference.logits import kept_logits, publish_logits
from ops.shards import Manifest, ShardEntry
from ops.storage import Root


def finished_before(
    root: Root, folder: str, key: str, manifest: Manifest, logits: bool = False
) -> dict[str, Finished]:
    """Shards that need not be evaluated again, by name.

    Parameters
    ----------
    root : Root
    folder : str
        The evaluation's folder below the root.
    key : str
        The result key.
    manifest : Manifest
        The dataset.
    logits : bool
        Whether logits are asked for: then a shard without them is not finished.
    """
    found = {}
    for shard in manifest.shards:
        there = kept(root, folder, key, shard, frames(manifest))
        if there is None:
            continue
        own = kept_logits(root, folder, key, shard, there.file.rows)
        if own is not None or not logits:
            found[shard.name] = replace(there, logits=own)
    return found


def finish(
    root: Root,
    folder: str,
    key: str,
    manifest: Manifest,
    shard: ShardEntry,
    rows: list[pa.RecordBatch],
    logits: list[pa.RecordBatch] | None = None,
) -> Finished:
    """Publish what was computed of a shard.

    Parameters
    ----------
    root : Root
    folder : str
        The evaluation's folder below the root.
    key : str
        The result key.
    manifest : Manifest
        The dataset.
    shard : ShardEntry
        One of its shards.
    rows : list of pyarrow.RecordBatch
        Its prediction rows, in any order.
    logits : list of pyarrow.RecordBatch or None
        Its logits, where they are asked for.

    Raises
    ------
    ShiftlakeError
        If not every sample, or frame, of the shard has exactly one row. Nothing is then written.
    """
    done = publish(root, folder, key, shard, rows, frames(manifest))
    if logits is None:
        return done
    return replace(done, logits=publish_logits(root, folder, key, shard, logits))
