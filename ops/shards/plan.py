"""Divide a dataset into shards before a byte is copied: by sorted key, never by arrival."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from ops.errors import ShiftlakeError
from ops.fetch.archive_members import Members, Span
from ops.shards.layouts import Ignored, Layout


@dataclass(frozen=True)
class ShardSize:
    """When a shard is full. Part of a dataset's version.

    Parameters
    ----------
    bytes : int
        Bytes of images after which the next group of samples starts a new shard.
    samples : int
        Samples after which it does.
    """

    bytes: int = 128 << 20
    samples: int = 2_500


@dataclass(frozen=True)
class Plan:
    """Which file becomes which sample in which shard.

    Parameters
    ----------
    shards : list of list of (str, Span)
        For every shard its files, by name in the archive, in the order of their keys.
    ignored : dict
        How many files are no samples, by reason.
    """

    shards: list[list[tuple[str, Span]]]
    ignored: dict[str, int]

    @property
    def n_samples(self) -> int:
        """Samples in all shards."""
        return sum(len(shard) for shard in self.shards)


def plan_shards(
    layout: Layout, members: Members, size: ShardSize, *, n_apple_doubles: int = 0
) -> Plan:
    """Sort the samples of a dataset by key and cut them into shards.

    Parameters
    ----------
    layout : Layout
    members : Members
        The prepared index.
    size : ShardSize
    n_apple_doubles : int
        Files of macOS that were left out of the index before.

    Raises
    ------
    ShiftlakeError
        If two files have one key, or none is a sample.
    """
    ignored = Counter({"AppleDouble file": n_apple_doubles} if n_apple_doubles else {})
    keyed: list[tuple[str, int]] = []
    for position, name in enumerate(members.names):
        key = layout.key(name)
        if isinstance(key, Ignored):
            ignored[str(key)] += 1
        else:
            keyed.append((key, position))
    keyed.sort()
    for (key, first), (other, second) in pairwise(keyed):
        if key == other:
            raise ShiftlakeError(
                "Two files of an archive have one sample key.",
                expected="every key once",
                found=f"{members.names[first]} and {members.names[second]}",
                where=f"{layout.spec.name}: {key}",
                remedy="check the archive against the catalog's hash",
            )
    if not keyed:
        raise ShiftlakeError(
            "An archive holds no sample of the dataset.",
            expected=f"files in the layout {layout.spec.layout}",
            found=f"{len(members):,} files, such as {members.names[:3]}; {dict(ignored)}",
            where=layout.spec.name,
            remedy="check that this is the right archive",
        )
    shards: list[list[tuple[str, Span]]] = []
    filled = 0
    group = None
    for key, position in keyed:
        full = shards and (filled >= size.bytes or len(shards[-1]) >= size.samples)
        if not shards or (full and layout.group(key) != group):
            shards.append([])
            filled = 0
        group = layout.group(key)
        span = members.span(position)
        shards[-1].append((members.names[position], span))
        filled += span.size
    return Plan(shards, dict(sorted(ignored.items())))
